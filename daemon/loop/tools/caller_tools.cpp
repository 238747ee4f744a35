// Reads the definitions as if a server had listed them, because both have MCP's form.
#include "daemon/loop/tools/caller_tools.hpp"

#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/protocol/tools.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"

#include <memory>
#include <utility>

namespace mcpbx::daemon::tools {
namespace {

constexpr std::string_view name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

}  // namespace

result<void> check_caller_tool_name(std::string_view name) {
  if (name.empty() || name.size() > providers::max_tool_name ||
      name.find_first_not_of(name_characters) != std::string_view::npos)
    return fail(errc::invalid_argument, "the name " + json::json_quoted(cut_utf8(name, 128)) +
                                            " must have 1 to 64 characters of [A-Za-z0-9_-]");
  if (name.starts_with(mcp::catalogs::reserved_prefix))
    return fail(errc::invalid_argument, "the name " + json::json_quoted(name) + " begins with \"" +
                                            std::string(mcp::catalogs::reserved_prefix) +
                                            "\", which is reserved for tools of mcpbx");
  return {};
}

result<void> check_caller_tool(const json::raw_json& definition) {
  auto tool = mcp::protocol::read_tool(definition);
  if (!tool) return std::unexpected(tool.error());
  // Stricter than for servers, because a caller can correct its request.
  if (!json::find_member(definition, "inputSchema").is_object())
    return fail(errc::invalid_argument, "tool \"" + redact::printable(tool->key) + "\": inputSchema must be an object");
  return check_caller_tool_name(tool->key);
}

std::vector<mcp::catalogs::entry_ptr> caller_entries(const std::vector<json::raw_json>& definitions) {
  std::vector<mcp::catalogs::entry_ptr> entries;
  entries.reserve(definitions.size());
  for (const auto& definition : definitions) {
    auto tool = mcp::protocol::read_tool(definition);
    if (!tool) continue;  // checked before
    auto e = std::make_shared<mcp::catalogs::catalog_entry>();
    e->name = tool->key;
    e->tool = std::move(tool->key);
    e->definition = definition;
    e->exposed = definition;
    e->legacy = definition;
    e->description = std::move(tool->description);
    e->annotations = {tool->read_only, tool->destructive, tool->idempotent, tool->open_world, std::move(tool->title)};
    e->hash = stable_hash(definition.text());
    entries.push_back(std::move(e));
  }
  return entries;
}

}  // namespace mcpbx::daemon::tools
