// Looks extensions up in capabilities, and judges the names of their methods.
#include "mcp/protocol/extensions.hpp"

#include "mcp/protocol/server_offers.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::mcp {
namespace {

/// The first parts of MCP's method names, and mcpbx's own. Later revisions may add methods below them.
constexpr std::array<std::string_view, 14> own_parts{
    "tools", "prompts", "resources", "completion", "logging",       "sampling", "elicitation",
    "roots", "tasks",   "server",    "ping",       "subscriptions", "mcpbx",    "notifications"};
/// The notifications of MCP without a part of their own.
constexpr std::array<std::string_view, 4> own_notifications{"initialized", "cancelled", "progress", "message"};

constexpr std::string_view notification_part = "notifications/";

}  // namespace

bool is_reserved_method(std::string_view method) {
  const bool notifies = method.starts_with(notification_part);
  if (notifies) method.remove_prefix(notification_part.size());
  const auto part = method.substr(0, method.find('/'));
  const auto is_in = [&](const auto& parts) { return std::ranges::find(parts, part) != parts.end(); };
  return part.empty() || (!notifies && part.size() == method.size()) || is_in(own_parts) || is_in(own_notifications);
}

std::vector<std::string> extensions_with(const extension_methods& all, std::string_view method) {
  std::vector<std::string> names;
  if (all.empty() || is_reserved_method(method)) return names;
  for (const auto& [name, patterns] : all)
    if (std::ranges::any_of(patterns, [&](const std::string& p) { return glob_match(p, method); }))
      names.push_back(name);
  return names;
}

bool lists_extension(const raw_json& capabilities, std::string_view name) {
  return find_member(find_member(capabilities, "extensions"), name).is_object() ||
         find_member(find_member(capabilities, "experimental"), name).is_object();
}

bool lists_extension(const server_offers& offers, std::string_view name) {
  return find_member(offers.extensions, name).is_object() || find_member(offers.experimental, name).is_object();
}

bool lists_one_of(const raw_json& capabilities, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return lists_extension(capabilities, name); });
}

bool share_extension(const raw_json& caller_capabilities, const server_offers& offers) {
  const auto share = [&](std::string_view member, const raw_json& of_server) {
    if (!of_server) return false;
    const auto listed = raw_object::open(find_member(caller_capabilities, member));
    bool found = false;
    if (listed)
      listed->for_each([&](std::string_view name, const raw_json& value) {
        found = found || (value.is_object() && !is_carried(name) && find_member(of_server, name).is_object());
      });
    return found;
  };
  return share("extensions", offers.extensions) || share("experimental", offers.experimental);
}

}  // namespace mcpbx::mcp
