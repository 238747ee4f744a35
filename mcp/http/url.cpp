// http://host[:port][/path][?query], with nothing in it that could break a request line.
#include "mcp/http/url.hpp"

#include <algorithm>
#include <charconv>

namespace mcpbx::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool starts_without_case(std::string_view s, std::string_view prefix) {
  return s.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), s.begin(), [](char a, char b) { return a == lower(b); });
}

}  // namespace

result<url_parts> parse_url(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    // What may hold a secret is not shown: the query, and whatever stands before an @.
    auto shown = url.substr(0, url.find('?'));
    if (const auto at = shown.rfind('@'); at != std::string_view::npos) shown = shown.substr(at);
    return fail(errc::invalid_argument, "\"" + std::string(shown) + "\" is no usable address: " + std::string(why));
  };
  url_parts u;
  auto rest = url.substr(0, url.find('#'));
  if (starts_without_case(rest, "https://")) {
    u.tls = true;
    u.port = 443;
    rest.remove_prefix(8);
  } else if (starts_without_case(rest, "http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong("it must begin with http:// or https://.");
  }
  for (const char c : rest)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) == 0x7F)
      return wrong("it holds a blank or a control character.");
  const auto end = std::min(rest.find_first_of("/?"), rest.size());
  auto authority = rest.substr(0, end);
  u.target = rest.substr(end);
  if (u.target.empty() || u.target.front() == '?') u.target.insert(0, 1, '/');
  if (authority.find('@') != std::string_view::npos) return wrong("user names and passwords belong into headers.");
  std::string_view host, port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return wrong("the bracket of its IPv6 address is not closed.");
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
  }
  if (host.empty()) return wrong("it names no host.");
  u.host.resize(host.size());
  std::transform(host.begin(), host.end(), u.host.begin(), lower);
  if (u.host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_:%") != std::string::npos)
    return wrong("its host name holds a character that host names do not have.");
  if (!port.empty()) {
    unsigned number = 0;
    const auto [stop, ec] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
    if (port.front() != ':' || ec != std::errc() || stop != port.data() + port.size() || number == 0 || number > 65535)
      return wrong("its port is no number from 1 to 65535.");
    u.port = static_cast<std::uint16_t>(number);
  }
  const bool ipv6 = u.host.find(':') != std::string::npos;
  u.authority = ipv6 ? "[" + u.host + "]" : u.host;
  u.origin = (u.tls ? "https://" : "http://") + u.authority + ":" + std::to_string(u.port);
  if (u.port != (u.tls ? 443 : 80)) u.authority += ":" + std::to_string(u.port);
  return u;
}

}  // namespace mcpbx::http
