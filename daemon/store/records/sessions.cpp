// Makes a session's title from the first line of the user.
#include "daemon/store/records/sessions.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::daemon::stored {

std::string title_of(const record::run_started& first) {
  constexpr std::size_t longest = 80;
  for (const auto& m : first.messages) {
    if (m->role != providers::role::user) continue;
    auto text = m->text();
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) continue;
    text = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
    std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');  // may separate words
    return redact::printable(text.size() > longest ? std::string(cut_utf8(text, longest - 3)) + "..." : text);
  }
  return {};
}

}  // namespace mcpbx::daemon::stored
