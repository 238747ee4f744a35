// Reads one level of JSON without copies or allocation, for stream chunks: a model may send hundreds of thousands per
// second. The text must have passed the scanner.
#pragma once
#include "mcp/json/json_skip.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/byte_search.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::walk {

/// Calls `f(key, value)` for each member of an object; `key` is unescaped, `value` is raw JSON. Ignores other kinds.
template <class F>
void members(std::string_view object, F&& f) {
  if (!object.starts_with('{')) return;
  const char* p = object.data() + 1;
  const char* const end = object.data() + object.size();
  std::string unescaped_key;
  for (;;) {
    p = byte_search::skip_blanks(p, end);
    if (p == end || *p != '"') return;
    const char* const key_end = json_skip::string(p, end);
    std::string_view key(p + 1, static_cast<std::size_t>(key_end - p) - 2);
    if (key.find('\\') != std::string_view::npos) {
      unescaped_key = unescaped({p, static_cast<std::size_t>(key_end - p)});
      key = unescaped_key;
    }
    p = byte_search::skip_blanks(key_end, end);
    if (p == end || *p != ':') return;
    p = byte_search::skip_blanks(p + 1, end);
    const char* const value_end = json_skip::value(p, end);
    if (value_end == p) return;
    f(key, std::string_view(p, static_cast<std::size_t>(value_end - p)));
    p = byte_search::skip_blanks(value_end, end);
    if (p == end || *p != ',') return;
    ++p;
  }
}

/// Calls `f(value)` for each element of an array. Ignores other kinds.
template <class F>
void elements(std::string_view array, F&& f) {
  if (!array.starts_with('[')) return;
  const char* p = array.data() + 1;
  const char* const end = array.data() + array.size();
  for (;;) {
    p = byte_search::skip_blanks(p, end);
    const char* const value_end = json_skip::value(p, end);
    if (p == end || value_end == p) return;
    f(std::string_view(p, static_cast<std::size_t>(value_end - p)));
    p = byte_search::skip_blanks(value_end, end);
    if (p == end || *p != ',') return;
    ++p;
  }
}

/// Returns the value of the last member called `key`, or "".
inline std::string_view find(std::string_view object, std::string_view key) {
  std::string_view found;
  members(object, [&](std::string_view k, std::string_view v) {
    if (k == key) found = v;
  });
  return found;
}

inline bool is_string(std::string_view value) {
  return value.starts_with('"');
}
inline bool is_object(std::string_view value) {
  return value.starts_with('{');
}
inline bool is_array(std::string_view value) {
  return value.starts_with('[');
}

/// Returns the text of a string value; "" for other kinds.
inline std::string text(std::string_view value) {
  return is_string(value) ? unescaped(value) : std::string();
}
/// Returns a member of `object` as an integer; 0 if it is missing or no integer.
inline std::int64_t count(std::string_view object, std::string_view key) {
  return raw_json::literal(find(object, key)).as_integer().value_or(0);
}

}  // namespace mcpbx::providers::walk
