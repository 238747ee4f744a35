// Reversible names.
#include "providers/schema/names.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::providers {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string with_hash(std::string_view shown, std::string_view name) {
  const auto tail = "_" + hex(stable_hash(name), 8);
  return std::string(shown.substr(0, max_tool_name - tail.size())) + tail;
}

}  // namespace

bool is_model_name(std::string_view name) {
  return !name.empty() && name.size() <= max_tool_name && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), is_name_char);
}

std::string model_name(std::string_view name) {
  std::string shown;
  for (const char c : name) shown += is_name_char(c) ? c : '_';
  if (shown.empty() || !is_letter(shown.front())) shown.insert(0, "t_");
  return shown.size() > max_tool_name ? with_hash(shown, name) : shown;
}

name_table::name_table(std::span<const std::string> names) : shown_(names.size()) {
  std::unordered_map<std::string, int> wanted;
  for (const auto& name : names) ++wanted[model_name(name)];
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& name = names[i];
    auto shown = model_name(name);
    if (!is_model_name(name) && wanted[shown] > 1) shown = with_hash(shown, name);
    shown_[i] = shown;
    originals_.emplace(std::move(shown), name);
  }
}

std::string_view name_table::original(std::string_view shown) const {
  const auto at = originals_.find(std::string(shown));
  return at == originals_.end() ? std::string_view() : std::string_view(at->second);
}

}  // namespace mcpbx::providers
