// Looks a call up in the facts of a run, and has the text of an answer that has none yet.
#include "daemon/loop/core/run_facts.hpp"

#include <algorithm>
#include <cassert>

namespace mcpbx::daemon::core {

std::shared_ptr<const std::string> no_text() {
  static const auto none = std::make_shared<const std::string>();
  return none;
}

const call_report& run_facts::report(std::string_view id) const {
  static const call_report none;
  const auto found = std::find_if(calls.rbegin(), calls.rend(), [&](const auto& c) { return c.id == id; });
  assert(found != calls.rend());
  return found == calls.rend() ? none : *found;
}

}  // namespace mcpbx::daemon::core
