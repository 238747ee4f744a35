// Reads the two fields by the grammar of W3C Trace Context, level 2, sections 3.2 and 3.3.
#include "mcp/trace/trace_context.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace mcpbx::trace {
namespace {

constexpr std::size_t parent_size = 55, most_entries = 32, longest_part = 256, large_entry = 128;

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

// Returns the fields that each version has, as version 00 writes them, or "". Of the flags of a later version only the
// bits are known that version 00 has (sampled, random): the others are set to 0.
std::string known_parent(std::string_view text) {
  if (text.size() < parent_size || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  const auto version = text.substr(0, 2), flags = text.substr(53, 2);
  if (!is_lower_hex(version) || version == "ff" || !is_lower_hex(flags)) return {};
  if (!is_id(text.substr(3, 32)) || !is_id(text.substr(36, 16))) return {};
  if (version == "00") return text.size() == parent_size ? std::string(text) : std::string();
  if (text.size() > parent_size && text[parent_size] != '-') return {};
  const auto low = flags[1] <= '9' ? flags[1] - '0' : flags[1] - 'a' + 10;
  std::string known = "00";
  known.append(text.substr(2, 51)).append("0").push_back(static_cast<char>('0' + (low & 3)));
  return known;
}

std::string_view without_blanks(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  return from == std::string_view::npos ? std::string_view()
                                        : text.substr(from, text.find_last_not_of(" \t") + 1 - from);
}

// Returns true for `key=value` (section 3.3.1.3). The entry has no blanks at its ends.
bool is_entry(std::string_view entry) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos) return false;
  const auto key = entry.substr(0, equals), value = entry.substr(equals + 1);
  const auto starts_key = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto in_key = [&](char c) { return starts_key(c) || std::string_view("_-*/@").contains(c); };
  const auto in_value = [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; };
  return !key.empty() && !value.empty() && key.size() <= longest_part && value.size() <= longest_part &&
         starts_key(key.front()) && key.back() != '@' && std::ranges::count(key, '@') <= 1 &&
         std::ranges::all_of(key, in_key) && std::ranges::all_of(value, in_value);
}

// Returns all entries in order, or nullopt if one is not valid or there are too many. Entries without text may stand
// between commas.
std::optional<std::vector<std::string_view>> entries_of(std::span<const std::string_view> fields) {
  std::vector<std::string_view> entries;
  for (auto rest : fields) {
    // Bounds the work on a field of nothing but commas; no valid one is longer.
    if (rest.size() > most_entries * (2 * longest_part + 8)) return std::nullopt;
    while (!rest.empty()) {
      const auto end = rest.find(',');
      const auto entry = without_blanks(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (entry.empty()) continue;
      if (entries.size() == most_entries || !is_entry(entry)) return std::nullopt;
      entries.push_back(entry);
    }
  }
  return entries;
}

std::size_t size_of(const std::vector<std::string_view>& entries) {
  std::size_t bytes = entries.empty() ? 0 : entries.size() - 1;
  for (const auto entry : entries) bytes += entry.size();
  return bytes;
}

}  // namespace

trace_context read_trace(std::string_view parent, std::span<const std::string_view> states) {
  trace_context trace{known_parent(parent), {}};
  auto entries = trace.empty() ? std::nullopt : entries_of(states);
  if (!entries) return trace;
  if (size_of(*entries) > trace_context::longest_state)
    std::erase_if(*entries, [](std::string_view entry) { return entry.size() > large_entry; });
  while (size_of(*entries) > trace_context::longest_state) entries->pop_back();
  for (const auto entry : *entries) trace.state.append(trace.state.empty() ? "" : ",").append(entry);
  return trace;
}

}  // namespace mcpbx::trace
