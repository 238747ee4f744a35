// Brings URIs and patterns into one spelling before they are compared.
#include "mcp/client/catalog/item_filter.hpp"

#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace mcpbx::mcp::catalogs {
namespace {

constexpr int most_encodings = 4;

bool any_matches(std::span<const std::string> globs, std::string_view text) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_match(glob, text); });
}

std::size_t path_of(std::string_view uri) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos) return 0;
  if (!uri.substr(colon + 1).starts_with("//")) return colon + 1;
  return std::min(uri.find('/', colon + 3), uri.size());
}

/// Returns the text with its path walked: without `.` and empty segments, each `..` taken together with the one before.
std::string walked(std::string_view uri) {
  const std::size_t begin = path_of(uri);
  std::string_view rest = uri.substr(begin);
  std::string out(uri.substr(0, begin));
  const bool rooted = rest.starts_with('/');
  std::vector<std::string_view> segments;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
  }
  if (rooted) out += '/';
  for (std::size_t i = 0; i < segments.size(); ++i) (out += i == 0 ? "" : "/") += segments[i];
  if (uri.ends_with('/') && !out.ends_with('/')) out += '/';
  return out;
}

std::string folded(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Passes the URI to `take` as it is, and without each further layer of its encodings. Returns false if `take` did, or
/// if there are too many layers.
template <class Take>
bool each_decoding(std::string_view uri, const Take& take) {
  std::string text(uri);
  for (int i = 0; i <= most_encodings; ++i) {
    if (!take(std::as_const(text))) return false;
    std::string next = percent_decoded(text);
    if (next == text) return true;
    text = std::move(next);
  }
  return false;
}

/// Returns the URI without its encodings; nullopt: it has too many.
std::optional<std::string> decoded(std::string_view uri) {
  std::string last;
  const bool whole = each_decoding(uri, [&](const std::string& text) {
    last = text;
    return true;
  });
  return whole ? std::optional(std::move(last)) : std::nullopt;
}

std::string with_slashes(std::string text) {
  std::ranges::replace(text, '\\', '/');
  return text;
}

/// Returns `scheme:/path` as `scheme:///path`: both name no host.
std::string with_authority(std::string text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon + 1 >= text.size() || text[colon + 1] != '/') return text;
  if (colon + 2 < text.size() && text[colon + 2] == '/') return text;
  return text.insert(colon + 1, "//");
}

/// Returns the default port of a scheme whose URIs browsers read leniently (https://url.spec.whatwg.org, "special"); 0:
/// another scheme.
unsigned web_port(std::string_view scheme) {
  if (scheme == "http" || scheme == "ws") return 80;
  if (scheme == "https" || scheme == "wss") return 443;
  return scheme == "ftp" ? 21 : 0;
}

/// Returns a number as IPv4 addresses may have it: 127, 0x7f or 0177.
std::optional<std::uint64_t> address_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
    if (text.empty()) return 0;
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string dotted(std::uint64_t address) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8)
    out += (out.empty() ? "" : ".") + std::to_string(address >> static_cast<unsigned>(shift) & 0xFF);
  return out;
}

/// Returns the address that a host is in any of its spellings, such as 2130706433 and [::ffff:7f00:1] for 127.0.0.1;
/// nullopt: it is a name.
std::optional<std::string> plain_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    const std::string text(host.substr(1, host.size() - 2));
    std::array<unsigned char, 16> bytes{};
    if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
    constexpr std::array<unsigned char, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    if (std::ranges::equal(mapped, std::span(bytes).first(mapped.size()))) {
      std::uint64_t address = 0;
      for (const unsigned char b : std::span(bytes).subspan(mapped.size())) address = address << 8 | b;
      return dotted(address);
    }
    std::array<char, INET6_ADDRSTRLEN> out{};
    ::inet_ntop(AF_INET6, bytes.data(), out.data(), out.size());
    return "[" + std::string(out.data()) + "]";
  }
  std::vector<std::uint64_t> parts;
  while (!host.empty() && parts.size() <= 4) {
    const auto end = std::min(host.find('.'), host.size());
    const auto number = end == 0 ? std::nullopt : address_number(host.substr(0, end));
    if (!number) return std::nullopt;
    parts.push_back(*number);
    host.remove_prefix(std::min(end + 1, host.size()));
  }
  if (parts.empty() || parts.size() > 4) return std::nullopt;
  // The last number fills all bytes that are left.
  const std::size_t left = 5 - parts.size();
  std::uint64_t address = parts.back();
  if (address >> (8 * left) != 0) return std::nullopt;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] > 0xFF) return std::nullopt;
    address |= parts[i] << (8 * (3 - i));
  }
  return dotted(address);
}

/// Returns the authority as a host alone, with a port that is not the usual one.
std::string plain_authority(std::string_view host, unsigned usual_port) {
  if (const auto user = host.rfind('@'); user != std::string_view::npos) host.remove_prefix(user + 1);
  std::string port;
  const auto colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const std::string_view digits = host.substr(colon + 1);
    unsigned number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (digits.empty() || whole) {
      if (whole && number != usual_port) port = ":" + std::to_string(number);
      host = host.substr(0, colon);
    }
  }
  while (host.ends_with('.')) host.remove_suffix(1);
  return (usual_port == 0 ? std::string(host) : plain_address(host).value_or(std::string(host))) + port;
}

/// Returns the URI with its host alone as authority: without user, usual port, and dots at its end. A `file` has no
/// host, whatever is written. For the web, any number of slashes may stand before the host and none behind it. `ends`:
/// the characters that end a host.
std::string with_plain_host(std::string_view uri, std::string_view ends = "/?#") {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos) return std::string(uri);
  const std::string_view scheme = uri.substr(0, colon);
  std::string_view rest = uri.substr(colon + 1);
  const unsigned usual_port = web_port(scheme);
  if (usual_port != 0)
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  else if (rest.starts_with("//"))
    rest.remove_prefix(2);
  else
    return std::string(uri);
  const auto end = std::min(rest.find_first_of(ends), rest.size());
  const std::string host = scheme == "file" ? std::string() : plain_authority(rest.substr(0, end), usual_port);
  const bool rootless = usual_port != 0 && !rest.substr(end).starts_with('/') && !host.ends_with('*');
  return std::string(scheme).append("://").append(host).append(rootless ? "/" : "").append(rest.substr(end));
}

/// Returns true if an authority has brackets without a plain IPv6 address in them (a zone, say), or a port that is no
/// number: servers read such texts each in their own way, and some connect all the same.
bool has_odd_end(std::string_view authority) {
  authority.remove_prefix(std::min(authority.rfind('@') + 1, authority.size()));
  const auto close = authority.rfind(']');
  if (authority.starts_with('[')) {
    if (close == std::string_view::npos || !plain_address(authority.substr(0, close + 1))) return true;
    authority.remove_prefix(close + 1);
    if (!authority.empty() && !authority.starts_with(':')) return true;
  } else if (authority.find_first_of("[]") != std::string_view::npos) {
    return true;
  }
  const auto colon = authority.find(':');
  const auto port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon + 1);
  return port.find_first_not_of("0123456789") != std::string_view::npos;
}

/// Returns true if nobody can say which host a URI of the web names: some servers bring characters beyond ASCII into
/// others (full-width letters, other dots, invisible ones), each by rules of its own. `foreign`: a denied pattern has
/// such characters, so that the ASCII form of a name (`xn--`) may be denied too.
bool has_unclear_host(std::string_view uri, bool foreign) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos || web_port(uri.substr(0, colon)) == 0) return false;
  std::string_view rest = uri.substr(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of("/\\"), rest.size()));
  const std::string_view host = rest.substr(0, rest.find_first_of("/\\?#"));
  return has_odd_end(host) || std::ranges::any_of(host, [](unsigned char c) { return c >= 0x80; }) ||
         (foreign && host.find("xn--") != std::string_view::npos);
}

/// Returns everything that a server may take the URI for, in lower case. Nullopt: nobody can say, since it has too many
/// encodings, characters that some servers drop, or an unclear host.
std::optional<std::vector<std::string>> readings(std::string_view uri, bool foreign) {
  std::vector<std::string> all;
  bool clear = true;
  const auto add = [&](const std::string& text) {
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
  };
  // Some servers walk a path before they decode it, some after, and many ignore query and fragment.
  const auto add_walked = [&](std::string_view text) {
    const std::string path = walked(with_authority(std::string(text)));
    add(path);
    add(with_plain_host(path));
    if (const auto plain = decoded(path)) {
      add(walked(*plain));
      add(with_plain_host(walked(*plain)));
    } else {
      clear = false;
    }
  };
  const bool whole = each_decoding(folded(std::string(trimmed(uri))), [&](const std::string& text) {
    if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) return false;
    add(text);
    // A decoded character may be a capital. Some take a backslash for a slash, some for a part of the user's name.
    for (const std::string& low : {folded(with_slashes(text)), folded(text)}) {
      if (has_unclear_host(low, foreign)) return false;
      add(low);
      for (const auto end : {std::string::npos, low.find('#'), low.find_first_of("?#")})
        add_walked(std::string_view(low).substr(0, end));
      if (!text.contains('\\')) break;
    }
    return clear;
  });
  return whole ? std::optional(std::move(all)) : std::nullopt;
}

/// Returns the pattern without its encodings, unless that would make wildcards of plain characters.
std::string decoded_pattern(const std::string& glob) {
  auto text = decoded(glob).value_or(glob);
  const auto wild = [](char c) { return c == '*' || c == '?'; };
  if (std::ranges::count_if(text, wild) != std::ranges::count_if(glob, wild)) return glob;
  return text;
}

}  // namespace

bool passes(std::span<const std::string> allow, std::span<const std::string> deny, std::string_view own) {
  return (allow.empty() || any_matches(allow, own)) && !any_matches(deny, own);
}

uri_filter::uri_filter(const item_filter& filter) : allow_(filter.allow), deny_(filter.deny) {
  for (const std::string& glob : allow_) meant_allow_.push_back(walked(decoded_pattern(glob)));
  for (const std::string& glob : deny_) {
    const std::string meant = folded(decoded_pattern(glob));
    meant_deny_.push_back(meant);
    const std::string path = walked(with_authority(meant));
    meant_deny_.push_back(path);
    // A host that is written with file: is meant, unless it is this one.
    if (!path.starts_with("file:") || path.starts_with("file://localhost/"))
      meant_deny_.push_back(with_plain_host(path, "/"));  // `?` is a wildcard here
    foreign_ = foreign_ || std::ranges::any_of(glob, [](unsigned char c) { return c >= 0x80; });
  }
}

bool uri_filter::denies(std::string_view uri) const {
  if (deny_.empty()) return false;
  if (any_matches(deny_, uri)) return true;
  const auto all = readings(uri, foreign_);
  return !all || std::ranges::any_of(*all, [&](const std::string& text) { return any_matches(meant_deny_, text); });
}

bool uri_filter::allows(std::string_view uri) const {
  if (allow_.empty()) return true;
  if (!any_matches(allow_, uri)) return false;
  const auto match = [&](const std::string& meant) {
    return any_matches(allow_, meant) || any_matches(meant_allow_, meant);
  };
  return each_decoding(
      uri, [&](const std::string& text) { return match(walked(text)) && match(walked(with_slashes(text))); });
}

}  // namespace mcpbx::mcp::catalogs
