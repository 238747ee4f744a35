// The table of kinds.
#include "mcp/protocol/features.hpp"

#include "mcp/protocol/prompts.hpp"
#include "mcp/protocol/resources.hpp"
#include "mcp/protocol/tools.hpp"

#include <array>

namespace mcpbx::mcp::protocol {
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
    feature_kind{.id = kind_id::prompts,
                 .capability = "prompts",
                 .list_method = "prompts/list",
                 .member = "prompts",
                 .changed = "notifications/prompts/list_changed",
                 .listen_member = "promptsListChanged",
                 .noun = "prompt",
                 .key_member = "name",
                 .keys = key_rule::prefixed,
                 .read = read_prompt},
    feature_kind{.id = kind_id::resources,
                 .capability = "resources",
                 .list_method = "resources/list",
                 .member = "resources",
                 .changed = "notifications/resources/list_changed",
                 .listen_member = "resourcesListChanged",
                 .noun = "resource",
                 .key_member = "uri",
                 .keys = key_rule::as_it_is,
                 .read = read_resource},
    feature_kind{.id = kind_id::resource_templates,
                 .capability = "resources",
                 .list_method = "resources/templates/list",
                 .member = "resourceTemplates",
                 .changed = "notifications/resources/list_changed",
                 .listen_member = "resourcesListChanged",
                 .noun = "resource template",
                 .key_member = "uriTemplate",
                 .keys = key_rule::as_it_is,
                 .read = read_template},
};
static_assert([] {
  for (std::size_t i = 0; i < all_kinds.size(); ++i)
    if (static_cast<std::size_t>(all_kinds[i].id) != i) return false;
  return true;
}());

constexpr const feature_kind& row(kind_id id) {
  return all_kinds[static_cast<std::size_t>(id)];
}

}  // namespace

feature_table feature_kinds() {
  return all_kinds;
}
const feature_kind& tool_kind() {
  return row(kind_id::tools);
}
const feature_kind& prompt_kind() {
  return row(kind_id::prompts);
}
const feature_kind& resource_kind() {
  return row(kind_id::resources);
}
const feature_kind& template_kind() {
  return row(kind_id::resource_templates);
}

}  // namespace mcpbx::mcp::protocol
