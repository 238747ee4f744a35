// Merges the settings one by one. For each setting the tables of conf/loop have a function that returns the stricter
// of two values.
#include "daemon/loop/core/stricter.hpp"

namespace mcpbx::daemon::core {

stored::run_limits stricter(stored::run_limits mine, const stored::run_limits& other) {
  for (const auto& n : conf::loop::loop_numbers()) mine.*n.settled = n.stricter(mine.*n.settled, other.*n.settled);
  conf::loop::each_choice([&](const auto& m) { mine.*m.settled = m.stricter(mine.*m.settled, other.*m.settled); });
  return mine;
}

}  // namespace mcpbx::daemon::core
