// Search in a table of routes.
#include "daemon/front/exchange/route.hpp"

#include <algorithm>

namespace mcpbx::daemon::routes {

found_route find_route(std::span<const route> table, std::string_view method, std::string_view path) {
  found_route found;
  for (const auto& r : table) {
    const auto parameter = r.match(path);
    if (!parameter) continue;
    if (found.methods.empty()) found.faults = r.faults;
    if (std::ranges::find(found.methods, r.method) == found.methods.end()) found.methods.push_back(r.method);
    if (found.row != nullptr || r.method != method) continue;
    found.row = &r;
    found.parameter = *parameter;
  }
  return found;
}

}  // namespace mcpbx::daemon::routes
