// Parses http://host[:port][/path][?query] and unix:/socket[:/path[?query]]. Refuses characters that could break a
// request line. Boost.URL is not used: its rule for authorities reads, in Boost 1.81, a name such as 127.0.0.1.example
// as an IPv4 address and stops there, and takes some ports above 65535; its other parts add 200 KB to the daemon. Path
// and query keep their bytes, even those that RFC 3986 would escape; the endpoint decides about them.
#include "mcp/http/url.hpp"

#include <boost/asio/ip/address_v6.hpp>

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcpbx::http {
namespace {

constexpr std::string_view strange_host = "its host name holds a character that host names do not have.";

char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool starts_without_case(std::string_view s, std::string_view prefix) {
  return s.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), s.begin(), [](char a, char b) { return a == lower_letter(b); });
}

// Splits a unix: address into the path of the socket and the rest.
std::pair<std::string_view, std::string_view> cut_unix(std::string_view url) {
  url.remove_prefix(5);
  if (url.starts_with("///")) url.remove_prefix(2);
  const auto colon = std::min(url.find(":/"), url.size());
  return {url.substr(0, colon), url.substr(std::min(colon + 1, url.size()))};
}

bool holds_blank_or_control(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) == 0x7F;
  });
}

}  // namespace

std::string appendable(std::string_view base) {
  std::string out(base);
  if (starts_without_case(base, "unix:") && cut_unix(base).second.empty()) out += ":/";
  return out;
}

result<url_parts> parse_url(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    // Do not show parts that may hold a secret: the query, and the text before an @.
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
  } else if (starts_without_case(rest, "unix:")) {
    const auto [path, target] = cut_unix(rest);
    if (!path.starts_with('/') || path.starts_with("//"))
      return wrong("the path of its socket must begin with one slash.");
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return wrong("the path of its socket has more than the 107 bytes that Linux allows.");
    if (holds_blank_or_control(rest)) return wrong("it holds a blank or a control character.");
    u.port = 0;
    u.host = u.authority = "localhost";
    u.socket = path;
    u.target = target.empty() ? "/" : target;
    u.origin = u.label = "unix:" + u.socket;
    return u;
  } else {
    return wrong("it must begin with http://, https:// or unix:/.");
  }
  if (holds_blank_or_control(rest)) return wrong("it holds a blank or a control character.");
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
    // The zone (`%eth0`) is not looked up here: the machine may not have that interface yet.
    boost::system::error_code no_address;
    static_cast<void>(boost::asio::ip::make_address_v6(host.substr(0, host.find('%')), no_address));
    if (!host.empty() && no_address) return wrong("its brackets hold no IPv6 address.");
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
  }
  if (host.empty()) return wrong("it names no host.");
  u.host.resize(host.size());
  std::transform(host.begin(), host.end(), u.host.begin(), lower_letter);
  if (u.host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_:%") != std::string::npos)
    return wrong(strange_host);
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
  u.label = u.authority;
  return u;
}

}  // namespace mcpbx::http
