// Looks extensions up in capabilities, and judges the names of their methods.
#include "mcp/protocol/extensions.hpp"

#include "mcp/protocol/server_offers.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mcpbx::mcp::protocol {
namespace {

/// The first parts of MCP's method names, and mcpbx's own. Later revisions may add methods below them.
constexpr std::array<std::string_view, 14> own_parts{
    "tools", "prompts", "resources", "completion", "logging",       "sampling", "elicitation",
    "roots", "tasks",   "server",    "ping",       "subscriptions", "mcpbx",    "notifications"};
/// The notifications of MCP without a part of their own.
constexpr std::array<std::string_view, 4> own_notifications{"initialized", "cancelled", "progress", "message"};

constexpr std::string_view notification_part = "notifications/";

/// Bound on a client's capabilities in bytes. They are looked at for each message that an extension may bring.
constexpr std::size_t most_looked_at = std::size_t{64} << 10;

/// Calls `told(name)` for each extension that a member of capabilities lists.
template <class F>
void for_each_extension(const json::raw_json& object, const F& told) {
  if (!object) return;
  if (const auto listed = json::raw_object::open(object))
    listed->for_each([&](std::string_view name, const json::raw_json& value) {
      if (value.is_object()) told(name);
    });
}

}  // namespace

bool is_reserved_method(std::string_view method) {
  const bool notifies = method.starts_with(notification_part);
  if (notifies) method.remove_prefix(notification_part.size());
  const auto part = method.substr(0, method.find('/'));
  const auto is_in = [&](const auto& parts) { return std::ranges::find(parts, part) != parts.end(); };
  return part.empty() || (!notifies && part.size() == method.size()) || is_in(own_parts) || is_in(own_notifications);
}

bool is_notification_name(std::string_view method) {
  return method.starts_with(notification_part);
}

std::vector<std::string> extensions_with(const extension_methods& all, std::string_view method) {
  std::vector<std::string> names;
  if (all.empty() || is_reserved_method(method)) return names;
  for (const auto& [name, patterns] : all)
    if (std::ranges::any_of(patterns, [&](const std::string& p) { return glob_match(p, method); }))
      names.push_back(name);
  return names;
}

std::vector<std::string> extensions_with(const extension_methods& all, const std::vector<std::string>& open,
                                         std::string_view method) {
  auto named = extensions_with(all, method);
  if (open.empty() || is_reserved_method(method)) return named;
  if (named.empty()) return open;
  std::vector<std::string> both;
  std::ranges::set_union(named, open, std::back_inserter(both));
  return both;
}

std::vector<std::string> open_extensions(const extension_rules& rules, const server_offers& offers) {
  if (!rules.open) return {};
  std::set<std::string, std::less<>> names;
  for (const json::raw_json& object : {offers.extensions, offers.experimental})
    for_each_extension(object, [&](std::string_view name) {
      if (names.size() < most_open_extensions && !name.empty() && name.size() <= longest_extension_name &&
          !is_carried(name) && !rules.named.contains(name) && !rules.elsewhere.contains(name))
        names.emplace(name);
    });
  return {names.begin(), names.end()};
}

bool lists_extension(const json::raw_json& capabilities, std::string_view name) {
  if (capabilities.text().size() > most_looked_at) return false;
  return json::find_member(json::find_member(capabilities, "extensions"), name).is_object() ||
         json::find_member(json::find_member(capabilities, "experimental"), name).is_object();
}

bool lists_extension(const server_offers& offers, std::string_view name) {
  return json::find_member(offers.extensions, name).is_object() ||
         json::find_member(offers.experimental, name).is_object();
}

std::string_view first_listed(const json::raw_json& capabilities, const std::vector<std::string>& names) {
  std::string_view found;
  if (names.empty() || capabilities.text().size() > most_looked_at) return found;
  for (const std::string_view member : {"extensions", "experimental"})
    for_each_extension(json::find_member(capabilities, member), [&](std::string_view name) {
      if (!found.empty()) return;
      if (const auto at = std::ranges::lower_bound(names, name); at != names.end() && *at == name) found = *at;
    });
  return found;
}

bool share_extension(const json::raw_json& caller_capabilities, const server_offers& offers) {
  if (caller_capabilities.text().size() > most_looked_at) return false;
  const auto share = [&](std::string_view member, const json::raw_json& of_server) {
    text_set names;
    for_each_extension(of_server, [&](std::string_view name) {
      if (!is_carried(name)) names.emplace(name);
    });
    bool found = false;
    if (!names.empty())
      for_each_extension(json::find_member(caller_capabilities, member),
                         [&](std::string_view name) { found = found || names.contains(name); });
    return found;
  };
  return share("extensions", offers.extensions) || share("experimental", offers.experimental);
}

}  // namespace mcpbx::mcp::protocol
