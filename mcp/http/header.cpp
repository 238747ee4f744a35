// Comparison of header names and words without regard to case, and the one form of dates.
#include "mcp/http/header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace mcpbx::http {

bool same_letters(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  if (a == b) return true;  // as nearly all values of types are written
  return std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return low(x) == low(y); });
}

std::string_view find_header(const std::vector<header>& headers, std::string_view name) {
  for (const auto& h : headers)
    if (is_word(h.name, name)) return h.value;
  return {};
}

std::optional<std::int64_t> date_ms(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t n) {
    int v = -1;
    const char* const end = text.data() + at + n;
    const auto [stop, ec] = std::from_chars(text.data() + at, end, v);
    return ec == std::errc() && stop == end ? v : -1;
  };
  const auto month = std::ranges::find(months, text.substr(8, 3));
  const int day = number(5, 2), year = number(12, 4), h = number(17, 2), m = number(20, 2), s = number(23, 2);
  if (month == months.end() || day < 1 || year < 1970 || h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60)
    return std::nullopt;
  const auto date = std::chrono::year(year) / static_cast<int>(month - months.begin() + 1) / day;
  if (!date.ok()) return std::nullopt;
  const std::chrono::sys_days days = date;
  return (((days.time_since_epoch().count() * 24LL + h) * 60 + m) * 60 + s) * 1000;
}

}  // namespace mcpbx::http
