// A server's tools are named together, as the catalog does it, since names that clash change each other.
#include "daemon/loop/tools/past_names.hpp"

#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/catalog/tool_names.hpp"

#include <cstddef>
#include <vector>

namespace mcpbx::daemon {
namespace {

struct listed_tool {
  std::string_view own, shown;  // shown: under which name the catalog has it now
};

std::map<std::string_view, std::vector<listed_tool>> tools_by_server(const mcp::catalog& now) {
  std::map<std::string_view, std::vector<listed_tool>> tools;
  for (const auto& e : now.entries()) tools[e->server].push_back({e->tool, e->name});
  for (const auto& [name, tool] : now.withheld()) tools[tool.server].push_back({tool.tool, name});
  return tools;
}

}  // namespace

past_names::past_names(const mcp::catalog& now, std::span<const server_terms> then) {
  const auto tools = tools_by_server(now);
  for (const auto& terms : then) {
    const auto& naming = terms.naming;
    const auto of_server = tools.find(terms.server);
    if (naming.prefix.empty() || of_server == tools.end()) continue;
    const mcp::tool_filter filter{terms.allow, terms.deny, {}};
    std::vector<std::string_view> own;
    for (const auto& tool : of_server->second)
      if (mcp::passes(filter, tool.own)) own.push_back(tool.own);
    const auto prefixed = mcp::prefixed_names(naming.prefix, own, naming.rename);
    for (std::size_t i = 0; i < own.size(); ++i)
      names_[{terms.server, std::string(own[i])}] = {prefixed.names[i], prefixed.names[i], {}};
    for (const auto& tool : of_server->second) {
      auto& n = names_[{terms.server, std::string(tool.own)}];  // one that was left out had no name
      if (!naming.plain) {
        n.prefixed.clear();
        continue;
      }
      n.plain = mcp::plain_name(tool.own, naming.rename);
      if (tool.shown == n.plain && !n.name.empty()) n.name = n.plain;
    }
  }
}

const past_names::names* past_names::find(const std::string& server, const std::string& own) const {
  const auto found = names_.find({server, own});
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace mcpbx::daemon
