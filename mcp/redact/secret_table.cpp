// The table of secrets. It has a mutex, because the log lane and the speaking thread both use it.
#include "mcp/redact/secret_table.hpp"

#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace mcpbx::redact::secret_table {
namespace {

constexpr std::size_t shortest = 6;
constexpr std::size_t shortest_line = 8;
constexpr std::size_t shortest_part = 4;
constexpr std::size_t most_lines = 256;  // largest number of lines of one value, since every text is searched for each

std::mutex guard;

// Each form with the number of values that have it.
std::map<std::string, std::size_t, std::less<>>& values() {
  static std::map<std::string, std::size_t, std::less<>> v;
  return v;
}

// Values that were added for good. Forms of other values are in the table without forms of their own.
std::set<std::string, std::less<>>& added() {
  static std::set<std::string, std::less<>> v;
  return v;
}

// Appends the value and its forms inside JSON, where quotes, backslashes and, by many writers, slashes are escaped.
void append_forms(std::vector<std::string>& forms, std::string_view value) {
  forms.emplace_back(value);
  const std::string quoted = json::json_quoted(value);
  std::string json = quoted.substr(1, quoted.size() - 2), slashes;
  for (const char c : json) {
    if (c == '/') slashes += '\\';
    slashes += c;
  }
  forms.push_back(std::move(json));
  forms.push_back(std::move(slashes));
}

/// Returns the length of the end of `text` that begins `value` but is not all of it; 0 if shorter than shortest_part.
std::size_t begun(std::string_view text, std::string_view value) {
  for (std::size_t n = std::min(text.size(), value.size() - 1); n >= shortest_part; --n)
    if (text.ends_with(value.substr(0, n))) return n;
  return 0;
}

/// Returns the length of the start of `text` that ends `value`, in the same way.
std::size_t ended(std::string_view text, std::string_view value) {
  for (std::size_t n = std::min(text.size(), value.size() - 1); n >= shortest_part; --n)
    if (text.starts_with(value.substr(value.size() - n))) return n;
  return 0;
}

}  // namespace

namespace {

// Returns the forms of a value that are long enough, each once.
std::vector<std::string> forms_of(const std::string& value) {
  std::vector<std::string> forms;
  append_forms(forms, value);
  if (value.find('\n') != std::string::npos) {
    std::size_t lines = 0;
    for (std::string_view rest = value; !rest.empty() && lines < most_lines; ++lines) {
      const auto end = std::min(rest.find('\n'), rest.size());
      const auto line = trimmed(rest.substr(0, end));
      if (line.size() >= shortest_line) append_forms(forms, line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::erase_if(forms, [](const std::string& form) { return form.size() < shortest; });
  std::ranges::sort(forms);
  forms.erase(std::ranges::unique(forms).begin(), forms.end());
  return forms;
}

}  // namespace

void add(const std::string& value) {
  if (value.size() < shortest) return;
  {
    const std::lock_guard lock(guard);
    if (added().contains(value)) return;  // most values are added again at each use
  }
  auto forms = forms_of(value);
  const std::lock_guard lock(guard);
  if (!added().insert(value).second) return;
  for (auto& form : forms) ++values()[std::move(form)];
}

void hold(const std::string& value) {
  if (value.size() < shortest) return;
  auto forms = forms_of(value);
  const std::lock_guard lock(guard);
  for (auto& form : forms) ++values()[std::move(form)];
}

void release(const std::string& value) {
  if (value.size() < shortest) return;
  const auto forms = forms_of(value);
  const std::lock_guard lock(guard);
  for (const auto& form : forms)
    if (const auto found = values().find(form); found != values().end() && --found->second == 0) values().erase(found);
}

std::vector<span> find(std::string_view text, cut_ends cut) {
  std::vector<span> found;
  {
    const std::lock_guard lock(guard);
    for (const auto& [v, holders] : values()) {
      const auto first = found.size();
      for (auto at = text.find(v); at != text.npos; at = text.find(v, at + 1)) {
        if (found.size() > first && at < found.back().end)
          found.back().end = at + v.size();
        else
          found.push_back({at, at + v.size()});
      }
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
  added().clear();
}

}  // namespace mcpbx::redact::secret_table
