// Checks formats from the letters of a text. Nothing is looked up.
#include "mcp/protocol/questions/input_formats.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcpbx::mcp::questions {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool has_blank(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

bool is_email(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || has_blank(text)) return false;
  const auto domain = text.substr(at + 1);
  return !domain.empty() && !domain.starts_with('.') && !domain.ends_with('.') && !domain.contains("..") &&
         !text.substr(0, at).contains('@');
}

bool is_uri(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size() || has_blank(text)) return false;
  const auto scheme = text.substr(0, colon);
  return is_letter(scheme.front()) && std::ranges::all_of(scheme, [](char c) {
           return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
         });
}

// Reads `digits` digits from the front of `text`; -1: they are not there.
int take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits || !std::ranges::all_of(text.substr(0, digits), is_digit)) return -1;
  int number = 0;
  for (const char c : text.substr(0, digits)) number = number * 10 + (c - '0');
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_date(std::string_view& text) {
  const int year = take_number(text, 4);
  const bool dash = take(text, '-');
  const int month = take_number(text, 2);
  const bool second = take(text, '-');
  const int day = take_number(text, 2);
  if (year < 0 || !dash || month < 1 || month > 12 || !second || day < 1) return false;
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= days[static_cast<std::size_t>(month - 1)] + (leap ? 1 : 0);
}

bool take_clock(std::string_view& text, int last_second) {
  const int hour = take_number(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return false;
  const int minute = take_number(text, 2);
  if (minute < 0 || minute > 59) return false;
  if (last_second < 0) return true;
  if (!take(text, ':')) return false;
  const int second = take_number(text, 2);
  return second >= 0 && second <= last_second;
}

// Returns true for RFC 3339: a date, T, the time with its seconds, and Z or the distance from it.
bool is_date_time(std::string_view text) {
  if (!take_date(text) || (!take(text, 'T') && !take(text, 't')) || !take_clock(text, 60)) return false;
  if (take(text, '.')) {
    const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  if (take(text, 'Z') || take(text, 'z')) return text.empty();
  if (!take(text, '+') && !take(text, '-')) return false;
  return take_clock(text, -1) && text.empty();
}

bool is_date(std::string_view text) {
  return take_date(text) && text.empty();
}

struct known_format {
  std::string_view name;
  bool (*accepts)(std::string_view);
  std::string_view says;
};
constexpr std::array<known_format, 4> formats{{{"email", is_email, "an address of e-mail, such as a@example.com"},
                                               {"uri", is_uri, "an address such as https://example.com/"},
                                               {"date", is_date, "a date such as 2026-07-28"},
                                               {"date-time", is_date_time, "a time such as 2026-07-28T09:30:00Z"}}};

}  // namespace

std::string_view unmet_format(std::string_view format, std::string_view text) {
  const auto known = std::ranges::find(formats, format, &known_format::name);
  return known == formats.end() || known->accepts(text) ? std::string_view() : known->says;
}

std::string host_of_url(std::string_view url) {
  std::string scheme;
  for (const char c : url.substr(0, std::min(url.find("://"), url.size())))
    scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if ((scheme != "http" && scheme != "https") || has_blank(url) || url.contains('\\')) return {};
  auto rest = url.substr(scheme.size() + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    return end == std::string_view::npos ? std::string() : std::string(rest.substr(0, end + 1));
  }
  return std::string(rest.substr(0, rest.find(':')));
}

}  // namespace mcpbx::mcp::questions
