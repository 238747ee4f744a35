// The header fields of a message, as both sides of HTTP have them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http {

struct header {
  std::string name, value;
};

/// Whether two words of HTTP are the same, without case.
bool is_word(std::string_view a, std::string_view b);
/// A header's value by name without case, or "".
std::string_view find_header(const std::vector<header>& headers, std::string_view name);

}  // namespace mcpbx::http
