// The log lane and the speaking thread both use the table, hence the mutex.
#include "mcp/support/secret_table.hpp"

#include "mcp/support/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace mcpbx::secret_table {
namespace {

constexpr std::size_t shortest = 6;
constexpr std::size_t shortest_line = 8;
constexpr std::size_t shortest_part = 4;

std::mutex guard;

std::vector<std::string>& values() {
  static std::vector<std::string> v;
  return v;
}

void insert(std::string value) {
  auto& v = values();
  if (value.size() >= shortest && std::ranges::find(v, value) == v.end()) v.push_back(std::move(value));
}

// The value, and how a quote, a backslash and, with many writers, a slash are escaped inside JSON.
void insert_forms(const std::string& value) {
  insert(value);
  const std::string quoted = json_quoted(value);
  std::string json = quoted.substr(1, quoted.size() - 2), slashes;
  for (const char c : json) {
    if (c == '/') slashes += '\\';
    slashes += c;
  }
  insert(std::move(json));
  insert(std::move(slashes));
}

/// How many bytes at the end of `text` begin `value`, without being all of it; 0 for fewer than shortest_part.
std::size_t begun(std::string_view text, std::string_view value) {
  for (std::size_t n = std::min(text.size(), value.size() - 1); n >= shortest_part; --n)
    if (text.ends_with(value.substr(0, n))) return n;
  return 0;
}

/// How many bytes at the start of `text` end `value`, in the same way.
std::size_t ended(std::string_view text, std::string_view value) {
  for (std::size_t n = std::min(text.size(), value.size() - 1); n >= shortest_part; --n)
    if (text.starts_with(value.substr(value.size() - n))) return n;
  return 0;
}

}  // namespace

void add(const std::string& value) {
  if (value.size() < shortest) return;
  const std::lock_guard lock(guard);
  insert_forms(value);
  if (value.find('\n') == std::string::npos) return;
  for (std::string_view rest = value; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = trimmed(rest.substr(0, end));
    if (line.size() >= shortest_line) insert_forms(std::string(line));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::vector<span> find(std::string_view text, cut_ends cut) {
  std::vector<span> found;
  {
    const std::lock_guard lock(guard);
    for (const std::string& v : values()) {
      for (auto at = text.find(v); at != text.npos; at = text.find(v, at + 1)) found.push_back({at, at + v.size()});
      if (cut.front && cut.back && text.size() >= shortest_part && v.find(text) != v.npos)
        found.push_back({0, text.size()});
      if (const auto n = cut.back ? begun(text, v) : 0; n != 0) found.push_back({text.size() - n, text.size()});
      if (const auto n = cut.front ? ended(text, v) : 0; n != 0) found.push_back({0, n});
    }
  }
  std::ranges::sort(found, {}, &span::begin);
  std::vector<span> apart;
  for (const span& s : found) {
    if (!apart.empty() && s.begin < apart.back().end)
      apart.back().end = std::max(apart.back().end, s.end);
    else
      apart.push_back(s);
  }
  return apart;
}

void clear() {
  const std::lock_guard lock(guard);
  values().clear();
}

}  // namespace mcpbx::secret_table
