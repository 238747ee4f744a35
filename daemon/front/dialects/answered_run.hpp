// One request of any dialect and its run: sends the run's events as a stream, or one answer at the end. The run ends if
// the caller leaves.
#pragma once
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/dialects/answer_writer.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "daemon/front/exchange/exchange.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon::dialects {

class answered_run final : public std::enable_shared_from_this<answered_run>,
                           public routes::exchange::work,
                           private run::run_feed::listener {
 public:
  /// Called once with the session of the run ("": none is kept), when the answer is written and not yet sent.
  using answered = std::function<void(std::string session)>;

  /// Starts the run, or continues the one that waits for the results in the request. Refuses a request that names an
  /// unknown tool. `x` must be open; it keeps the work. `then` may be unset; it is not called after a fault.
  static void start(const std::shared_ptr<routes::exchange>& x, dialect_request request,
                    std::unique_ptr<answer_writer> writer, answered then = {});

  /// Use start().
  answered_run(std::shared_ptr<routes::exchange> x, dialect_request request, std::unique_ptr<answer_writer> writer,
               answered then);
  void on_drained() override { ask_pull(); }
  void on_left() override;

 private:
  void begin_run();
  std::vector<std::string> missing_tools();
  request_fault start_fault(const error& e) const;
  void run();
  void on_ready(run::run_event::kind latest) override;
  result<std::shared_ptr<run::run_feed>> open_run();
  void ask_pull();
  void pull();
  void take(const run::run_event& e);
  void take_text(const run::run_event& e);
  void take_round_text();
  void take_error(const json::raw_json& body);
  void begin();
  void send();
  void end();
  void answer_whole(const std::shared_ptr<routes::exchange>& line, json::raw_json result, run_outcome o);
  void fail(const request_fault& f);
  void keep_alive();

  front::door_context& door_;  // valid while line_ is set
  // Null once the answer is complete or the caller has left, which ends the mutual ownership with the exchange.
  std::shared_ptr<routes::exchange> line_;
  dialect_request request_;
  std::unique_ptr<answer_writer> writer_;
  answered then_;
  std::unique_ptr<run::feed_reader> reader_;
  std::string run_;
  std::uint64_t seen_ = 0;  // number of the last event
  providers::usage told_;   // usage in earlier answers about the same run
  said_text said_;          // for an answer without a stream
  std::string out_;         // parts of this pull
  std::unique_ptr<timer> silence_;
  time_point last_sent_;
  bool begun_ = false, asked_ = false;
  bool untaken_ = false;  // said_ lacks the text of this round
  bool any_text_ = false, new_round_ = false;
  bool lost_ = false;  // events were dropped because the caller was too slow
  last_error error_;
};

}  // namespace mcpbx::daemon::dialects
