// See door_context.hpp.
#include "daemon/front/door_context.hpp"

#include "daemon/loop/chosen_tools.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

mcp::catalog_ptr door_context::tools_for(const std::string& profile) {
  auto whole = daemon.tools();
  if (profile.empty()) return whole;
  auto& view = views[profile];
  if (view.whole == whole) return view.seen;
  std::vector<mcp::entry_ptr> entries;
  if (const auto base = settings.chat.base("", profile))
    entries = chosen_tools(*whole, {{}, base->allow, base->deny, base->rename},
                           view.seen ? view.seen->entries() : std::span<const mcp::entry_ptr>());
  view = {whole, std::make_shared<mcp::catalog>(std::move(entries), whole->revision(), mcp::withheld_tools{},
                                                whole->dropped())};
  return view.seen;
}

}  // namespace mcpbx::daemon
