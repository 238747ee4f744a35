// Calls everybody who waits for one thing.
#pragma once
#include <utility>

namespace mcpbx::daemon::logins {

/// Empties the list and calls each of its handlers that is not empty. They may add others, which wait on.
template <class Handlers, class... Arguments>
void call_all(Handlers& handlers, const Arguments&... arguments) {
  for (auto& h : std::exchange(handlers, {}))
    if (h) h(arguments...);
}

}  // namespace mcpbx::daemon::logins
