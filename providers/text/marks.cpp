// The first member of an object decides whether it is worth holding back.
#include "providers/text/marks.hpp"

#include <algorithm>

namespace mcpbx::providers::text {
namespace {

constexpr std::size_t max_name = 128;
constexpr std::array<std::string_view, 13> first_keys{
    "name",       "tool_name", "tool", "function_name", "action",    "function", "function_call", "tool_call",
    "tool_calls", "type",      "id",   "arguments",     "parameters"};

untagged_guess guess_object(std::string_view text, const offered_tools& tools) {
  constexpr untagged_guess maybe{match::maybe};
  auto at = skip_blanks(text, 1);
  if (at > max_name) return {};
  if (at == text.size()) return maybe;
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return {};
  auto end = text.find(quote, ++at);
  const auto key = text.substr(at, end == std::string_view::npos ? end : end - at);
  if (end == std::string_view::npos) {
    if (key.size() > max_name) return {};
    const bool may = std::ranges::any_of(first_keys, [&](auto k) { return k.starts_with(key); });
    return may ? maybe : untagged_guess{};
  }
  if (std::ranges::find(first_keys, key) == first_keys.end()) return {};
  at = skip_blanks(text, end + 1);
  if (at > 2 * max_name) return {};
  if (at == text.size()) return maybe;
  if (text[at] != ':') return {};
  at = skip_blanks(text, at + 1);
  if (at > 4 * max_name) return {};
  if (at == text.size()) return maybe;
  const char c = text[at];
  if (key == "id" || key == "arguments" || key == "parameters") return {match::yes};
  if ((key == "function" || key == "function_call" || key == "tool_call") && c == '{') return {match::yes};
  if (key == "tool_calls") return {c == '[' ? match::yes : match::no};
  if (c != '"' && c != '\'') return {};
  end = text.find(c, ++at);
  if (end == std::string_view::npos) return text.size() - at > max_name ? untagged_guess{} : maybe;
  const auto value = text.substr(at, end - at);
  if (key == "type") return value == "function" || value == "tool_call" ? untagged_guess{match::yes} : untagged_guess{};
  return tools.find(value) != nullptr ? untagged_guess{match::yes, true} : untagged_guess{};
}

}  // namespace

untagged_guess guess_untagged(std::string_view text, const offered_tools& tools, bool at_line_start) {
  if (text.starts_with('{')) return guess_object(text, tools);
  const auto at = skip_blanks(text, 1);
  if (at > max_name) return {};
  if (at == text.size()) return {match::maybe};
  if (text[at] == '{') return guess_object(text.substr(at), tools);
  if (!at_line_start || !is_name_char(text[at])) return {};
  auto end = at;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == text.size()) return end - at > max_name ? untagged_guess{} : untagged_guess{match::maybe};
  if (text[end] != '(' || tools.find(text.substr(at, end - at)) == nullptr) return {};
  return {match::yes, true, true};
}

}  // namespace mcpbx::providers::text
