// Header fields of HTTP messages, for client and server.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http {

struct header {
  std::string name, value;
};

/// Compares two texts of equal length without regard to case.
bool same_letters(std::string_view a, std::string_view b);
/// Compares two words of HTTP without regard to case. In line, since most headers differ from the wanted one in length.
inline bool is_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && same_letters(a, b);
}
/// Returns a header's value, found by name without regard to case, or "".
std::string_view find_header(const std::vector<header>& headers, std::string_view name);
/// Reads a date in the form that senders must use, "Wed, 21 Oct 2026 07:28:00 GMT" (RFC 9110, section 5.6.7), as
/// milliseconds since 1970; nullopt: another form, or no such day.
std::optional<std::int64_t> date_ms(std::string_view text);

}  // namespace mcpbx::http
