// Finds the supervised servers that wait for a login.
#include "daemon/loop/tools/tool_source.hpp"

#include <utility>

namespace mcpbx::daemon::tools {

std::vector<waiting_server> supervised_tools::waiting_for_login() const {
  std::vector<waiting_server> list;
  for (auto& s : servers_.status())
    if (s.remote && s.remote->problem == "unauthorized") list.push_back({std::move(s.name), std::move(s.last_error)});
  return list;
}

}  // namespace mcpbx::daemon::tools
