// Model calls of one run, one at a time: requests, and the text and usage of the open one. Attempts within a call are
// the matter of providers/call.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_clock.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace mcpbx::daemon {

class model_calls {
 public:
  /// Sources of requests; all of them must outlive this.
  struct subject {
    const run_core& core;
    const run_request& request;
    const tool_offer& offer;
    const run_clock& clock;
    const run_feed& feed;
    time_source& time;
  };
  /// `told` hears what the calls say, also what comes when a call has just been cancelled: is_open() tells that.
  model_calls(subject of, providers::model_events& told) : of_(of), told_(told), began_(of.time.now()) {}

  /// The calls are of this model from now on.
  void use(std::shared_ptr<providers::model> m) { model_ = std::move(m); }
  const providers::model& model() const noexcept { return *model_; }

  /// A call is wanted: prepare() makes it ready, while its round is being written, and begin() does where that has not
  /// been called.
  void plan(const command::call_model& c) { planned_ = c; }
  void prepare();
  void begin();
  bool is_open() const noexcept { return open_ != nullptr; }

  /// The call has been answered, and is kept until release(): letting go of it takes time, which nothing waits for that
  /// follows from the reply.
  void answered() { spent_ = std::move(open_); }
  void release() { spent_.reset(); }
  void failed() { open_.reset(); }
  /// Gives up the call, and what is planned.
  void cancel();

  /// Since the last begin().
  std::int64_t ms() const { return of_.clock.ms_since(began_); }
  /// Returns the usage of the open call so far, an estimate.
  providers::usage spent() const { return open_ ? open_->spent() : providers::usage{}; }
  /// Returns the beginning of the open call's answer, or "".
  std::string text_so_far() const { return open_ ? of_.feed.round_text() : std::string(); }

 private:
  void choose_tools(providers::model_request& ask, const command::call_model& c) const;

  subject of_;
  providers::model_events& told_;
  std::shared_ptr<providers::model> model_;
  std::optional<command::call_model> planned_;
  std::unique_ptr<providers::model_call> open_, spent_;
  time_point began_;
};

}  // namespace mcpbx::daemon
