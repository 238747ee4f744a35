// Words for the usage of a run.
#include "daemon/cli/text/usage_line.hpp"

#include "mcp/support/text.hpp"

#include <cstdint>
#include <string_view>

namespace mcpbx::cli::text {
namespace {

std::int64_t count_at(const json::raw_json& object, std::string_view key) {
  return json::find_member(object, key).as_integer().value_or(0);
}

}  // namespace

std::string usage_line(const json::raw_json& result) {
  const auto rounds = count_at(result, "rounds");
  if (rounds == 0) return {};
  std::int64_t calls = 0;
  json::for_each_element(json::find_member(result, "toolCalls"), [&](const json::raw_json&) {
    ++calls;
    return true;
  });
  const auto used = json::find_member(result, "usage");
  std::string line = counted(rounds, "round") + ", " + counted(calls, "tool call") + ", ";
  if (json::find_member(used, "estimated").is_true()) line += "about ";
  line += counted(count_at(used, "inputTokens"), "token") + " in";
  if (const auto cached = count_at(used, "cachedTokens"); cached > 0)
    line += " (" + std::to_string(cached) + " cached)";
  return line + ", " + std::to_string(count_at(used, "outputTokens")) + " out";
}

}  // namespace mcpbx::cli::text
