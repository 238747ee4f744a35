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

/// Returns the URI without its encodings; nullopt: it has too many.
std::optional<std::string> decoded(std::string_view uri) {
  std::string text(uri);
  for (int i = 0; i < most_encodings; ++i) {
    std::string next = percent_decoded(text);
    if (next == text) return text;
    text = std::move(next);
  }
  return percent_decoded(text) == text ? std::optional(std::move(text)) : std::nullopt;
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
  for (const std::string& glob : deny_) meant_deny_.push_back(folded(walked(decoded_pattern(glob))));
}

bool uri_filter::denies(std::string_view uri) const {
  if (deny_.empty()) return false;
  if (any_matches(deny_, uri)) return true;
  const auto text = decoded(uri);
  return !text || any_matches(meant_deny_, folded(walked(*text))) || any_matches(meant_deny_, folded(*text));
}

bool uri_filter::allows(std::string_view uri) const {
  if (allow_.empty()) return true;
  if (!any_matches(allow_, uri)) return false;
  const auto text = decoded(uri);
  if (!text) return false;
  const std::string meant = walked(*text);
  return any_matches(allow_, meant) || any_matches(meant_allow_, meant);
}

}  // namespace mcpbx::mcp
