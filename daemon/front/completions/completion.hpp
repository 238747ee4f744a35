// One Chat Completions request and its run: sends the run's events as chunks of a stream, or one answer at the end. The
// run ends if the caller leaves.
#pragma once
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/base/exchange.hpp"
#include "daemon/front/completions/completion_json.hpp"
#include "daemon/front/completions/completion_request.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon {

class completion final : public std::enable_shared_from_this<completion>,
                         public exchange::work,
                         private run_feed::listener {
 public:
  /// `x` must be open; it keeps this object.
  completion(std::shared_ptr<exchange> x, completion_request request);

  /// Starts the run, or continues the one that waits for the results in the request. Refuses a tool_choice that names
  /// an unknown tool.
  void start();
  void on_drained() override { ask_pull(); }
  void on_left() override;

 private:
  std::vector<std::string> missing_tools();
  void run();
  void on_ready(run_event::kind latest) override;
  result<std::shared_ptr<run_feed>> open_run();
  void ask_pull();
  void pull();
  void take(const run_event& e);
  void take_text(const run_event& e);
  void take_round_text();
  void take_error(const raw_json& body);
  void begin();
  void send();
  void end();
  void fail(const completion_fault& f);
  void keep_alive();

  door_context& door_;  // valid while line_ is set
  // Null once the answer is complete or the caller has left, which ends the mutual ownership with the exchange.
  std::shared_ptr<exchange> line_;
  completion_request request_;
  std::unique_ptr<feed_reader> reader_;
  completion_json::head head_;
  std::string run_;
  std::uint64_t seen_ = 0;  // number of the last event
  providers::usage told_;   // usage in earlier answers about the same run
  // Text of each round that has some, for an answer without a stream.
  std::vector<std::string> texts_;
  std::string thinking_;
  std::string out_;  // chunks of this pull
  std::unique_ptr<timer> silence_;
  time_point last_sent_;
  bool begun_ = false, asked_ = false;
  bool untaken_ = false;  // texts_ lacks the text of this round
  bool any_text_ = false, new_round_ = false;
  bool lost_ = false;  // events were dropped because the caller was too slow
  last_error error_;
};

}  // namespace mcpbx::daemon
