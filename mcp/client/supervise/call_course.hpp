// The course of a call that may need more than one request: rounds of input at a modern server, or a task of a legacy
// one that is run to its end here.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mcpbx::mcp::supervise {

struct call_course {
  /// Largest number of times that a server may ask for input in one call, and of questions that it may ask at once.
  static constexpr int most_rounds = 8;
  static constexpr std::size_t most_inputs = 16;
  /// Bounds of the time between two looks at a task, and its usual value.
  static constexpr milliseconds least_poll{20}, usual_poll{1'000}, most_poll{30'000};

  time_point hard_at = never;       ///< end of the call's time, moved by the time that questions were open
  time_point paused_since = never;  ///< a question has been open since then; never: none is

  // Rounds
  json::raw_json params;  ///< as the caller sent them: each round begins with them
  int round = 0;
  struct input {
    std::string key;
    json::raw_json answer;
  };
  std::vector<input> inputs;  ///< of this round
  std::size_t unanswered = 0;
  json::raw_json state;         ///< requestState, byte for byte; may be absent
  bool refused_before = false;  ///< the server has refused the revision once

  // Task
  bool runs_task = false;
  bool made = false;  ///< the server has answered with a task, or with the result
  std::string task_id;
  rpc::call_number creation = 0;         ///< number of the call, which stays the task's progress token
  rpc::call_number poll = 0, fetch = 0;  ///< the open requests for its state and its result
  time_point poll_at = never;            ///< next look
  time_point result_until = never;       ///< a task that has ended must give its result by then
};

}  // namespace mcpbx::mcp::supervise
