// Model calls of one run, one at a time: builds their requests, and gives text and usage of the open call. Retries
// within a call are made by providers/call.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/limits/run_clock.hpp"
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

namespace mcpbx::daemon::run {

/// Belongs to one run. use() must be called before the first call.
class model_calls {
 public:
  /// Data that the requests are built from. All of it must outlive this object.
  struct subject {
    const core::run_facts& facts;
    const run_request& request;
    const tools::tool_offer& offer;
    const limits::run_clock& clock;
    const run_feed& feed;
    time_source& time;
  };
  /// `events` gets the events of the calls. An event that it has queued may be of a call that was cancelled since:
  /// check is_open().
  model_calls(subject of, providers::model_events& events) : of_(of), events_(events), began_(of.time.now()) {}

  /// Sets the model for the calls from now on; not null.
  void use(std::shared_ptr<providers::model> m) { model_ = std::move(m); }
  const providers::model& model() const noexcept { return *model_; }

  /// Plans the next call.
  void plan(const core::command::call_model& c) { planned_ = c; }
  /// Builds the request of the planned call, if there is one. May be called while the records of its round are written.
  void prepare();
  /// Sends the planned request, prepared or not.
  void begin();
  /// Returns true if a call is prepared or begun and not answered, failed or cancelled.
  bool is_open() const noexcept { return open_ != nullptr; }

  /// Ends the open call, which has given its reply, but keeps it until release(): destroying it takes time, for which
  /// the commands that follow from the reply should not wait.
  void answered() { spent_ = std::move(open_); }
  /// Destroys the call that answered() has kept.
  void release() { spent_.reset(); }
  /// Destroys the open call, which has failed.
  void failed() { open_.reset(); }
  /// Cancels the open call and the planned one.
  void cancel();

  /// Returns the time since the last begin() in ms.
  std::int64_t ms() const { return of_.clock.ms_since(began_); }
  /// Returns an estimate of the tokens that the open call has used so far.
  providers::usage spent() const { return open_ ? open_->spent() : providers::usage{}; }
  /// Returns the text that the open call has streamed so far, or "".
  std::string text_so_far() const { return open_ ? of_.feed.round_text() : std::string(); }

 private:
  void choose_tools(providers::model_request& ask, const core::command::call_model& c) const;

  subject of_;
  providers::model_events& events_;
  std::shared_ptr<providers::model> model_;
  std::optional<core::command::call_model> planned_;
  std::unique_ptr<providers::model_call> open_, spent_;
  time_point began_;
};

}  // namespace mcpbx::daemon::run
