// Replacement, shortening and hashing of tool names.
#include "providers/model/names.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace mcpbx::providers {
namespace {

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_char(char c) {
  return is_name_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

constexpr int tool_digits = 8, fitting_digits = 16;

std::string with_hash(std::string_view shown, std::string_view name, int digits = tool_digits) {
  const auto tail = "_" + hex(stable_hash(name), digits);
  return std::string(shown.substr(0, max_tool_name - tail.size())) + tail;
}

// Replaces characters that APIs refuse; the result may be too long.
std::string with_name_chars(std::string_view name) {
  std::string shown;
  for (const char c : name) shown += is_name_char(c) ? c : '_';
  if (shown.empty() || !is_name_letter(shown.front())) shown.insert(0, "t_");
  return shown;
}

}  // namespace

bool is_model_name(std::string_view name) {
  return !name.empty() && name.size() <= max_tool_name && is_name_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), is_name_char);
}

std::string model_name(std::string_view name) {
  auto shown = with_name_chars(name);
  return shown.size() > max_tool_name ? with_hash(shown, name) : shown;
}

// The hash is longer than that of a shown tool name, so the two cannot collide.
std::string fitting_name(std::string_view name) {
  return is_model_name(name) ? std::string(name) : with_hash(with_name_chars(name), name, fitting_digits);
}

std::string_view without_namespace(std::string_view name) {
  for (const std::string_view space : {"functions.", "default_api.", "tools."})
    if (name.starts_with(space)) return name.substr(space.size());
  return name;
}

std::vector<std::string> shown_names(std::span<const std::string_view> names) {
  std::vector<std::string> shown;
  shown.reserve(names.size());
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    shown.push_back(model_name(names[i]));
    if (shown[i] != names[i]) changed.push_back(i);
  }
  if (changed.empty()) return shown;
  std::unordered_map<std::string_view, int> wanted;
  for (const auto& name : shown) ++wanted[name];
  std::erase_if(changed, [&](std::size_t i) { return wanted[shown[i]] == 1; });
  for (const auto i : changed) shown[i] = with_hash(shown[i], names[i]);
  return shown;
}

}  // namespace mcpbx::providers
