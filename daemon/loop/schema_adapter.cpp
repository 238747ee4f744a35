// Catalog entries in a model's dialect: names by providers/schema's table, definitions one by one. A tool that cannot
// be adapted is left out with one line in the log; the others are offered all the same. What a definition becomes for
// an API is kept, so that a changed catalog costs only what changed.
#include "daemon/loop/round_tools.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt.hpp"
#include "providers/schema/names.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::daemon {
namespace {

// Definitions for a few APIs; beyond it everything is made anew once.
constexpr std::size_t max_kept = 16'384;

class adapter {
 public:
  std::vector<adapted_tool> adapt(std::span<const mcp::entry_ptr> entries, std::string_view api) {
    std::vector<std::string> exposed;
    exposed.reserve(entries.size());
    for (const auto& e : entries) exposed.push_back(e->name);
    const providers::name_table names(exposed);
    std::vector<adapted_tool> all;
    all.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (const auto& tool = known(*entries[i], names.shown(i), api)) all.push_back({i, *tool});
    return all;
  }

 private:
  using kept_tool = std::optional<providers::tool_definition>;  // nothing: it is left out, and that was logged

  const kept_tool& known(const mcp::catalog_entry& e, const std::string& shown, std::string_view api) {
    auto key = std::string(api) + "\n" + shown + "\n" + hex(stable_hash(e.definition.text()), 16) + "\n" +
               std::to_string(e.definition.text().size());
    if (const auto at = kept_.find(key); at != kept_.end()) return at->second;
    if (kept_.size() >= max_kept) kept_.clear();
    return kept_.emplace(std::move(key), made(e, shown, api)).first->second;
  }

  static kept_tool made(const mcp::catalog_entry& e, const std::string& shown, std::string_view api) {
    auto tool = providers::adapt_tool(shown, e.description, find_member(e.definition, "inputSchema"), api);
    if (!tool) {
      log::warn("tool \"" + e.name + "\" is not offered to models: " + tool.error().message);
      return std::nullopt;
    }
    return std::move(*tool);
  }

  std::unordered_map<std::string, kept_tool> kept_;
};

}  // namespace

tool_adapter schema_adapter() {
  return [shared = std::make_shared<adapter>()](std::span<const mcp::entry_ptr> entries, std::string_view api) {
    return shared->adapt(entries, api);
  };
}

}  // namespace mcpbx::daemon
