// Catalog entries in a model's dialect: names by providers/schema's table, definitions one by one. A tool that cannot
// be adapted is left out with one line in the log; the others are offered all the same.
#include "daemon/loop/round_tools.hpp"
#include "mcp/support/log.hpp"
#include "providers/schema/adapt.hpp"
#include "providers/schema/names.hpp"

#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

tool_adapter schema_adapter() {
  return [](std::span<const mcp::entry_ptr> entries, std::string_view api) {
    std::vector<std::string> exposed;
    exposed.reserve(entries.size());
    for (const auto& e : entries) exposed.push_back(e->name);
    const providers::name_table names(exposed);
    std::vector<adapted_tool> all;
    all.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& e = *entries[i];
      auto tool = providers::adapt_tool(names.shown(i), e.description, find_member(e.definition, "inputSchema"), api);
      if (tool)
        all.push_back({i, std::move(*tool)});
      else
        log::warn("tool \"" + e.name + "\" is not offered to models: " + tool.error().message);
    }
    return all;
  };
}

}  // namespace mcpbx::daemon
