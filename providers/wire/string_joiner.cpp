// Joins string tokens. The halves of a surrogate pair in two tokens are joined before they are unescaped.
#include "providers/wire/string_joiner.hpp"

#include "mcp/json/raw_json.hpp"

#include <utility>

namespace mcpbx::providers::wire {
namespace {

// Returns true if the inside of a string token ends in the escape of a high surrogate, whose low half may come next.
bool ends_in_high_surrogate(std::string_view inside) {
  if (inside.size() < 6) return false;
  const auto tail = inside.substr(inside.size() - 6);
  if (tail[0] != '\\' || tail[1] != 'u' || (tail[2] | 0x20) != 'd') return false;
  const char c = static_cast<char>(tail[3] | 0x20);
  if (tail[3] != '8' && tail[3] != '9' && c != 'a' && c != 'b') return false;
  // The backslash counts only if it is not itself escaped.
  std::size_t before = 0;
  for (std::size_t i = inside.size() - 6; i > 0 && inside[i - 1] == '\\'; --i) ++before;
  return before % 2 == 0;
}

}  // namespace

std::string_view string_joiner::take(std::string_view token) {
  if (token.size() < 2) return {};
  auto inside = token.substr(1, token.size() - 2);
  if (held_.empty() && inside.find('\\') == std::string_view::npos) return inside;
  std::string all = "\"" + std::exchange(held_, {});
  all += inside;
  if (ends_in_high_surrogate(std::string_view(all).substr(1))) {
    held_ = all.substr(all.size() - 6);
    all.resize(all.size() - 6);
  }
  all += '"';
  text_ = json::unescaped(all);
  return text_;
}

}  // namespace mcpbx::providers::wire
