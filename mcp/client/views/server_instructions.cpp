// Goes through the tools, since they tell which servers a caller sees.
#include "mcp/client/views/server_instructions.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace mcpbx::mcp::views {

namespace {

constexpr std::size_t for_notes = 160;      // bytes kept for what says that something is left out
constexpr std::size_t shortest_part = 256;  // bytes of instructions; fewer are not worth their heading

// Indents each line, so that no server can write a line that looks like the heading of another one.
std::string indented(std::string_view text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c == '\r' ? '\n' : c;
    if (c == '\n' || c == '\r') out += "  ";
  }
  return out;
}

}  // namespace

std::string joined_instructions(std::span<const catalogs::entry_ptr> tools, std::size_t most) {
  const std::size_t room = most - std::min(most, for_notes);
  std::string all;
  std::unordered_set<std::string_view> seen;
  bool cut = false;
  std::size_t left_out = 0;
  for (const catalogs::entry_ptr& tool : tools) {
    if (!seen.insert(tool->server).second) continue;
    const auto owner = tool->owner.lock();
    const std::string text = owner ? redact::redactor::redact(owner->instructions()) : std::string();
    if (text.empty()) continue;
    const std::string heading = (all.empty() ? "" : "\n\n") + ("Tool server \"" + tool->server + "\":\n");
    const std::string part = heading + indented(text);
    const std::size_t left = room - all.size();
    if (part.size() <= left && !cut) {
      all += part;
    } else if (left >= heading.size() + shortest_part && !cut) {
      all += cut_utf8(part, left);
      cut = true;
    } else {
      ++left_out;
    }
  }
  if (cut) all += "\n\n(These last instructions are cut here.)";
  if (left_out != 0)
    all += (all.empty() ? "" : "\n\n") + ("(The instructions of " + counted(left_out, "more tool server")) +
           " are left out here.)";
  return all;
}

}  // namespace mcpbx::mcp::views
