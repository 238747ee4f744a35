// Each field of run_limits that restricts has a line here.
#include "daemon/loop/core/stricter.hpp"

#include <algorithm>

namespace mcpbx::daemon {
namespace {

// 0 is no limit.
template <class T>
T smaller_limit(T a, T b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// By how little is done without a person: nothing that needs a yes, what gets one, everything.
int freedom(approval_mode m) {
  switch (m) {
    case approval_mode::none:
      return 0;
    case approval_mode::ask:
      return 1;
    case approval_mode::all:
      return 2;
  }
  return 0;
}

}  // namespace

run_limits stricter(run_limits mine, const run_limits& other) {
  const auto lower = [&](auto field) { mine.*field = std::min(mine.*field, other.*field); };
  const auto lower_unless_none = [&](auto field) { mine.*field = smaller_limit(mine.*field, other.*field); };
  const auto raise = [&](auto field) { mine.*field = mine.*field || other.*field; };
  lower(&run_limits::max_rounds);
  lower(&run_limits::max_calls_per_round);
  lower(&run_limits::max_calls);
  lower_unless_none(&run_limits::max_consecutive_errors);
  lower_unless_none(&run_limits::max_repeated_calls);
  lower(&run_limits::tool_concurrency);
  lower_unless_none(&run_limits::timeout_ms);
  lower(&run_limits::question_timeout_ms);
  lower_unless_none(&run_limits::token_budget);
  lower(&run_limits::max_result_bytes);
  raise(&run_limits::approve_destructive);
  raise(&run_limits::approve_after_output);
  if (other.on_tool_error == on_tool_error::stop) mine.on_tool_error = on_tool_error::stop;
  if (freedom(other.approve) < freedom(mine.approve)) mine.approve = other.approve;
  return mine;
}

}  // namespace mcpbx::daemon
