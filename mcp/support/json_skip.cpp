// Skipping over checked values.
#include "mcp/support/json_skip.hpp"

#include "mcp/support/byte_search.hpp"

#include <cstddef>

namespace mcpbx::json_skip {

const char* string(const char* p, const char* end) noexcept {
  ++p;
  for (;;) {
    p = byte_search::quote_or_escape(p, end);
    if (p == end) return end;
    if (*p == '"') return p + 1;
    if (end - p < 2) return end;
    p += 2;
  }
}

const char* value(const char* p, const char* end) noexcept {
  if (p == end) return p;
  if (*p == '"') return string(p, end);
  if (*p == '{' || *p == '[') {
    std::size_t depth = 0;
    for (;;) {
      p = byte_search::bracket_or_quote(p, end);
      if (p == end) return end;
      if (*p == '"') {
        p = string(p, end);
      } else if (*p == '{' || *p == '[') {
        ++depth;
        ++p;
      } else {
        ++p;
        if (--depth == 0) return p;
      }
    }
  }
  // A number or a literal: up to whatever may follow a value.
  while (p != end && *p != ',' && *p != '}' && *p != ']' && *p != ':' && static_cast<unsigned char>(*p) > ' ') ++p;
  return p;
}

}  // namespace mcpbx::json_skip
