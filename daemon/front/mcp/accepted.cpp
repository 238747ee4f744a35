// Reading of media ranges and their weights.
#include "daemon/front/mcp/accepted.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstddef>

namespace mcpbx::daemon::mcp_door {
namespace {

/// Calls `f` for each part of `text` between separators, without blanks around it, until it returns true.
template <class F>
bool any_part(std::string_view text, char separator, F f) {
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (f(trimmed(text.substr(0, end)))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool has_range(std::string_view range, std::string_view type) {
  if (range == "*/*" || http::is_word(range, type)) return true;
  return range.ends_with("/*") && http::is_word(range.substr(0, range.size() - 1), type.substr(0, type.find('/') + 1));
}

bool is_zero_weight(std::string_view parameter) {
  if (parameter.size() < 3 || (parameter[0] != 'q' && parameter[0] != 'Q') || parameter[1] != '=') return false;
  return std::ranges::all_of(parameter.substr(2), [](char c) { return c == '0' || c == '.'; });
}

}  // namespace

bool accepts(const std::vector<http::header>& headers, std::string_view type) {
  return std::ranges::any_of(headers, [&](const http::header& h) {
    return http::is_word(h.name, "accept") && any_part(h.value, ',', [&](std::string_view item) {
             const auto end = std::min(item.find(';'), item.size());
             return has_range(trimmed(item.substr(0, end)), type) && !any_part(item.substr(end), ';', is_zero_weight);
           });
  });
}

bool prefers_stream(const std::vector<http::header>& headers) {
  bool stream = false;
  std::ranges::any_of(headers, [&](const http::header& h) {
    return http::is_word(h.name, "accept") && any_part(h.value, ',', [&](std::string_view item) {
             const auto range = trimmed(item.substr(0, item.find(';')));
             stream = http::is_word(range, "text/event-stream");
             return stream || http::is_word(range, "application/json");
           });
  });
  return stream;
}

}  // namespace mcpbx::daemon::mcp_door
