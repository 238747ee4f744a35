// The numbers go by their table; each other field of run_limits that restricts has a line here.
#include "daemon/loop/core/stricter.hpp"

namespace mcpbx::daemon {
namespace {

// By how little is done without a person: nothing that needs an approval, what gets one, everything.
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
  for (const auto& n : conf::loop_numbers()) mine.*n.settled = n.stricter(mine.*n.settled, other.*n.settled);
  const auto raise = [&](auto field) { mine.*field = mine.*field || other.*field; };
  raise(&run_limits::approve_destructive);
  raise(&run_limits::approve_after_output);
  if (other.on_tool_error == tool_error_policy::stop) mine.on_tool_error = tool_error_policy::stop;
  if (freedom(other.approve) < freedom(mine.approve)) mine.approve = other.approve;
  return mine;
}

}  // namespace mcpbx::daemon
