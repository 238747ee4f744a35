// Parses http://host[:port][/path][?query] and unix:/socket[:/path[?query]]. Refuses characters that could break a
// request line. Boost.URL reads the authority, and nothing but it: where a name begins like an IPv4 address, Boost 1.81
// ends the host there, so that its parse_uri() takes http://127.0.0.1.example/ for the host 127.0.0.1. Path and query
// keep their bytes, even those that RFC 3986 would escape; the endpoint decides about them.
#include "mcp/http/url.hpp"

#include <boost/url/authority_view.hpp>

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <expected>
#include <utility>

namespace mcpbx::http {
namespace {

namespace urls = boost::urls;

constexpr std::string_view no_host = "it names no host.";
constexpr std::string_view strange_host = "its host name holds a character that host names do not have.";
constexpr std::string_view no_ipv6 = "its brackets hold no IPv6 address.";
constexpr std::string_view wrong_port = "its port is no number from 1 to 65535.";
constexpr auto npos = std::string_view::npos;
constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

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

// Says why Boost.URL cannot read the authority, or not in the way that a host is written here.
std::string_view fault_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == npos) return "the bracket of its IPv6 address is not closed.";
    if (close == 1) return no_host;
    return urls::parse_authority(authority.substr(0, close + 1)) ? wrong_port : no_ipv6;
  }
  const auto name = authority.substr(0, authority.find(':'));
  if (name.empty()) return no_host;
  return name.find_first_not_of(name_characters) == npos ? wrong_port : strange_host;
}

// Reads host and port, or says which of them is wrong. A port that is not given stays as it is.
std::expected<void, std::string_view> read_authority(std::string_view authority, std::string& host,
                                                     std::uint16_t& port) {
  std::string text(authority), zone;
  const bool literal = text.starts_with('[');
  if (literal) {
    // Boost.URL knows no zones (`%eth0`). The zone is not looked up here: the machine may not have that interface yet.
    const auto close = std::min(text.find(']'), text.size()), percent = std::min(text.find('%'), close);
    zone = text.substr(percent, close - percent);
    text.erase(percent, zone.size());
  } else {
    text.insert(0, 1, 'n');  // a name that begins with a letter is never taken for an IPv4 address
  }
  const auto parsed = urls::parse_authority(text);
  if (!parsed || parsed->has_userinfo()) return std::unexpected(fault_of(literal ? std::string_view(text) : authority));
  if (literal && parsed->host_type() != urls::host_type::ipv6) return std::unexpected(no_ipv6);
  host = literal ? std::string(parsed->encoded_host_address()) + zone : std::string(parsed->encoded_host().substr(1));
  if (host.empty()) return std::unexpected(no_host);
  if ((literal ? zone.substr(std::min<std::size_t>(1, zone.size())) : host).find_first_not_of(name_characters) != npos)
    return std::unexpected(strange_host);
  if (!parsed->has_port()) return {};
  // Its number is not asked for: in Boost 1.81 that of ":99999" is 34463.
  const std::string_view digits = parsed->port();
  const auto [stop, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (ec != std::errc() || stop != digits.data() + digits.size() || port == 0) return std::unexpected(wrong_port);
  return {};
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
    if (const auto at = shown.rfind('@'); at != npos) shown = shown.substr(at);
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
  const auto authority = rest.substr(0, end);
  u.target = rest.substr(end);
  if (u.target.empty() || u.target.front() == '?') u.target.insert(0, 1, '/');
  if (authority.find('@') != npos) return wrong("user names and passwords belong into headers.");
  if (const auto read = read_authority(authority, u.host, u.port); !read) return wrong(read.error());
  std::ranges::transform(u.host, u.host.begin(), lower_letter);
  const bool ipv6 = u.host.find(':') != std::string::npos;
  u.authority = ipv6 ? "[" + u.host + "]" : u.host;
  u.origin = (u.tls ? "https://" : "http://") + u.authority + ":" + std::to_string(u.port);
  if (u.port != (u.tls ? 443 : 80)) u.authority += ":" + std::to_string(u.port);
  u.label = u.authority;
  return u;
}

}  // namespace mcpbx::http
