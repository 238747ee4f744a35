// The same fold as that of a live run, so that what is closed here is what a live run would have closed.
#include "daemon/loop/recovery.hpp"

#include "daemon/loop/run_core.hpp"

namespace mcpbx::daemon {

std::vector<run_record> recovery_of(const std::vector<run_record>& of_a_run) {
  if (of_a_run.empty() || !std::holds_alternative<record::run_started>(of_a_run.front())) return {};
  run_core core;
  for (const auto& r : of_a_run) core.apply(r);
  return core.recovery();
}

}  // namespace mcpbx::daemon
