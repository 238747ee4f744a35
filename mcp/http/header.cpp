// Comparison of header names and words without regard to case.
#include "mcp/http/header.hpp"

#include <algorithm>

namespace mcpbx::http {

bool same_letters(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return low(x) == low(y); });
}

std::string_view find_header(const std::vector<header>& headers, std::string_view name) {
  for (const auto& h : headers)
    if (is_word(h.name, name)) return h.value;
  return {};
}

}  // namespace mcpbx::http
