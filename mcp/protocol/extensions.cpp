// Looks extensions up in capabilities, and judges the names of their methods.
#include "mcp/protocol/extensions.hpp"

#include "mcp/protocol/server_offers.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

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

bool lists_extension(const json::raw_json& capabilities, std::string_view name) {
  if (capabilities.text().size() > most_looked_at) return false;
  return json::find_member(json::find_member(capabilities, "extensions"), name).is_object() ||
         json::find_member(json::find_member(capabilities, "experimental"), name).is_object();
}

bool lists_extension(const server_offers& offers, std::string_view name) {
  return json::find_member(offers.extensions, name).is_object() ||
         json::find_member(offers.experimental, name).is_object();
}

bool lists_one_of(const json::raw_json& capabilities, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return lists_extension(capabilities, name); });
}

bool share_extension(const json::raw_json& caller_capabilities, const server_offers& offers) {
  if (caller_capabilities.text().size() > most_looked_at) return false;
  const auto for_each_name = [](const json::raw_json& object, const auto& told) {
    if (const auto listed = json::raw_object::open(object))
      listed->for_each([&](std::string_view name, const json::raw_json& value) {
        if (value.is_object() && !is_carried(name)) told(name);
      });
  };
  const auto share = [&](std::string_view member, const json::raw_json& of_server) {
    if (!of_server) return false;
    text_set names;
    for_each_name(of_server, [&](std::string_view name) { names.emplace(name); });
    bool found = false;
    if (!names.empty())
      for_each_name(json::find_member(caller_capabilities, member),
                    [&](std::string_view name) { found = found || names.contains(name); });
    return found;
  };
  return share("extensions", offers.extensions) || share("experimental", offers.experimental);
}

}  // namespace mcpbx::mcp::protocol
