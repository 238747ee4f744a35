// Adapts catalog entries to an API: their names and, one by one, their definitions. Logs each tool that is left out or
// loses a part of its schema. Keeps each adapted definition with its cached encodings, so that after a change of the
// catalog only the changed tools are adapted again.
#include "daemon/loop/tools/caller_tools.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/log.hpp"
#include "providers/model/names.hpp"
#include "providers/schema/adapt/adapt.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::daemon::tools {
namespace {

// Enough definitions for a few APIs. Beyond either bound the cache is emptied.
constexpr std::size_t max_kept = 16'384, max_kept_bytes = std::size_t{64} << 20;

class adapter {
 public:
  std::vector<adapted_tool> adapt(std::span<const mcp::catalogs::entry_ptr> entries, std::string_view api) {
    std::vector<std::string_view> exposed;
    exposed.reserve(entries.size());
    for (const auto& e : entries) exposed.push_back(e->name);
    const auto shown = providers::shown_names(exposed);
    std::vector<adapted_tool> all;
    all.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (const auto& tool = known(*entries[i], shown[i], api)) all.push_back({i, *tool});
    return all;
  }

 private:
  using made_tool = std::optional<providers::tool_definition>;  // nullopt: left out, which was logged
  struct kept_tool {
    std::string api, shown;
    std::uint64_t hash = 0;  // of the server's definition, which itself would keep the whole tools/list result alive
    std::size_t size = 0;    // of that definition in bytes
    made_tool tool;
    bool is(const mcp::catalogs::catalog_entry& e, std::string_view name, std::string_view for_api) const {
      return hash == e.hash && size == e.definition.text().size() && shown == name && api == for_api;
    }
    // Estimates the bytes kept: the adapted definition, and as much again for its encodings.
    std::size_t bytes() const {
      return tool ? 2 * (tool->name.size() + tool->description.size() + tool->schema.text().size()) : 0;
    }
  };

  const made_tool& known(const mcp::catalogs::catalog_entry& e, const std::string& shown, std::string_view api) {
    const keyed_hash hash_of;
    const auto place = e.hash ^ hash_of(shown) ^ (hash_of(api) << 1);
    auto at = kept_.find(place);
    if (at != kept_.end() && at->second.is(e, shown, api)) return at->second.tool;
    kept_tool fresh{std::string(api), shown, e.hash, e.definition.text().size(), made(e, shown, api)};
    if (at != kept_.end()) {
      bytes_ -= at->second.bytes();
      kept_.erase(at);
    }
    if (kept_.size() >= max_kept || bytes_ + fresh.bytes() > max_kept_bytes) {
      kept_.clear();
      bytes_ = 0;
    }
    bytes_ += fresh.bytes();
    return kept_.emplace(place, std::move(fresh)).first->second.tool;
  }

  static made_tool made(const mcp::catalogs::catalog_entry& e, const std::string& shown, std::string_view api) {
    auto tool = providers::adapt::adapt_tool(shown, e.description, json::find_member(e.definition, "inputSchema"), api);
    if (!tool) {
      log::warn("tool \"" + e.name + "\" is not offered to models: " + tool.error().message);
      return std::nullopt;
    }
    if (!tool->changes.empty())
      log::warn("tool \"" + e.name +
                "\" is offered to models with changes: " + providers::adapt::changes_in_words(*tool));
    if (tool->schema.owner().size() > tool->schema.text().size()) tool->schema = tool->schema.detached();
    tool->strict = is_caller_tool(e) && json::find_member(e.definition, "strict").is_true();
    tool->encoded = std::make_shared<providers::fragment_cache>();
    return std::move(*tool);
  }

  std::unordered_map<std::uint64_t, kept_tool> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace

tool_adapter schema_adapter() {
  return [shared = std::make_shared<adapter>()](std::span<const mcp::catalogs::entry_ptr> entries,
                                                std::string_view api) { return shared->adapt(entries, api); };
}

}  // namespace mcpbx::daemon::tools
