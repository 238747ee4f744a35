// Goes through the tools, since they tell which servers a caller sees.
#include "mcp/client/catalog/server_instructions.hpp"

#include <string_view>
#include <unordered_set>

namespace mcpbx::mcp {

namespace {

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

std::string joined_instructions(std::span<const entry_ptr> tools, std::size_t most) {
  std::string all;
  std::unordered_set<std::string_view> seen;
  std::size_t left_out = 0;
  for (const entry_ptr& tool : tools) {
    if (!seen.insert(tool->server).second) continue;
    const auto owner = tool->owner.lock();
    const std::string_view text = owner ? owner->instructions() : std::string_view();
    if (text.empty()) continue;
    const std::string part = "Tool server \"" + tool->server + "\":\n" + indented(text);
    if (all.size() + part.size() > most)
      ++left_out;
    else
      all += (all.empty() ? "" : "\n\n") + part;
  }
  if (left_out != 0)
    all += (all.empty() ? "" : "\n\n") + std::string("(The instructions of ") + std::to_string(left_out) +
           " more tool servers are left out here.)";
  return all;
}

}  // namespace mcpbx::mcp
