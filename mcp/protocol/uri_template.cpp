// Keeps the set of places that a beginning of the template can reach, and goes through the parts once.
#include "mcp/protocol/uri_template.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::protocol {

bool uri_template::may_have(reach r, char c) noexcept {
  switch (r) {
    case reach::segment:
      return c != '/' && c != '?' && c != '#';
    case reach::path:
      return c != '?' && c != '#';
    case reach::query:
      return c != '#';
    case reach::anything:
      break;
  }
  return true;
}

std::optional<uri_template::part> uri_template::expression(std::string_view text) {
  if (text.empty()) return std::nullopt;
  switch (text.front()) {
    case '+':
      return part{.values = reach::anything};
    case '#':
      return part{.first = '#', .values = reach::anything};
    case '.':
    case ';':
      return part{.first = text.front(), .values = reach::segment};
    case '/':
      return part{.first = '/', .values = reach::path};
    case '?':
    case '&':
      return part{.first = text.front(), .values = reach::query};
    default:
      return part{};
  }
}

std::optional<uri_template> uri_template::parse(std::string_view text) {
  uri_template out;
  std::size_t expressions = 0;
  while (!text.empty()) {
    const auto open = text.find_first_of("{}");
    if (open != 0) {
      out.parts_.push_back({.literal = std::string(text.substr(0, open))});
      text.remove_prefix(std::min(open, text.size()));
      continue;
    }
    const auto close = text.find_first_of("{}", 1);
    if (text.front() == '}' || close == std::string_view::npos || text[close] == '{') return std::nullopt;
    auto made = expression(text.substr(1, close - 1));
    if (!made || ++expressions > most_expressions) return std::nullopt;
    out.parts_.push_back(std::move(*made));
    text.remove_prefix(close + 1);
  }
  return out;
}

bool uri_template::is_open() const noexcept {
  return parts_.empty() || parts_.front().literal.find(':') == std::string::npos;
}

bool uri_template::matches(std::string_view uri, std::size_t& budget) const {
  if (!parts_.empty() && !uri.starts_with(parts_.front().literal)) return false;
  const auto spend = [&](std::size_t work) { return budget >= work ? (budget -= work, true) : (budget = 0, false); };
  std::vector<bool> here(uri.size() + 1), next(uri.size() + 1);  // places that the parts so far can end at
  here[0] = true;
  for (const part& p : parts_) {
    if (!spend(uri.size() + 1)) return false;
    next.assign(uri.size() + 1, false);
    if (!p.literal.empty()) {
      for (std::size_t at = 0; at + p.literal.size() <= uri.size(); ++at) {
        if (!here[at]) continue;
        if (!spend(p.literal.size())) return false;
        if (uri.substr(at).starts_with(p.literal)) next[at + p.literal.size()] = true;
      }
    } else {
      bool inside = false;  // a value that began before can go on to here
      for (std::size_t at = 0; at <= uri.size(); ++at) {
        if (at > 0) {
          inside = inside && may_have(p.values, uri[at - 1]);
          if (p.first != 0 && here[at - 1] && uri[at - 1] == p.first) inside = true;
        }
        if (p.first == 0 && here[at]) inside = true;
        next[at] = inside || here[at];
      }
    }
    std::swap(here, next);
  }
  return here[uri.size()];
}

}  // namespace mcpbx::mcp::protocol
