// The table of kinds.
#include "mcp/protocol/features.hpp"

#include "mcp/protocol/tools.hpp"

#include <array>

namespace mcpbx::mcp {
namespace {

constexpr std::array all_kinds = {
    feature_kind{.id = kind_id::tools,
                 .capability = "tools",
                 .list_method = "tools/list",
                 .member = "tools",
                 .changed = "notifications/tools/list_changed",
                 .listen_member = "toolsListChanged",
                 .noun = "tool",
                 .key_member = "name",
                 .keys = key_rule::prefixed,
                 .read = read_tool},
};
static_assert([] {
  for (std::size_t i = 0; i < all_kinds.size(); ++i)
    if (static_cast<std::size_t>(all_kinds[i].id) != i) return false;
  return true;
}());

}  // namespace

feature_table feature_kinds() {
  return all_kinds;
}

const feature_kind& tool_kind() {
  return all_kinds.front();
}

}  // namespace mcpbx::mcp
