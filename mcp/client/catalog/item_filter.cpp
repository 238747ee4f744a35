// Brings URIs and patterns into one spelling before they are compared.
#include "mcp/client/catalog/item_filter.hpp"

#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace mcpbx::mcp {
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

/// Returns the URI with its host alone as authority: without user, default port, and a dot at its end. A `file` has no
/// host, whatever is written.
std::string with_plain_host(std::string_view uri) {
  const auto begin = uri.find("://");
  if (begin == std::string_view::npos) return std::string(uri);
  const std::string_view scheme = uri.substr(0, begin), rest = uri.substr(begin + 3);
  const auto end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view host = rest.substr(0, end);
  if (const auto user = host.rfind('@'); user != std::string_view::npos) host.remove_prefix(user + 1);
  const std::string_view port = scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":";
  for (const std::string_view more : {port, std::string_view(":"), std::string_view(".")})
    if (host.ends_with(more)) host.remove_suffix(more.size());
  if (scheme == "file") host = {};
  return std::string(scheme).append("://").append(host).append(rest.substr(end));
}

/// Returns everything that a server may take the URI for, in lower case. Nullopt: nobody can say, since it has too many
/// encodings, or characters that some servers drop.
std::optional<std::vector<std::string>> readings(std::string_view uri) {
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
    const std::string low = folded(with_slashes(text));  // a decoded character may be a capital
    add(low);
    for (const auto end : {std::string::npos, low.find('#'), low.find_first_of("?#")})
      add_walked(std::string_view(low).substr(0, end));
    return clear;
  });
  return whole ? std::optional(std::move(all)) : std::nullopt;
}

/// Returns the pattern without its encodings, unless that would make wildcards of plain characters.
std::string decoded_pattern(const std::string& glob) {
  auto text = decoded(glob).value_or(glob);
  const auto wild = [](char c) { return c == '*' || c == '?'; };
  return std::ranges::count_if(text, wild) == std::ranges::count_if(glob, wild) ? std::move(text) : glob;
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
      meant_deny_.push_back(with_plain_host(path));
  }
}

bool uri_filter::denies(std::string_view uri) const {
  if (deny_.empty()) return false;
  if (any_matches(deny_, uri)) return true;
  const auto all = readings(uri);
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

}  // namespace mcpbx::mcp
