// Merges the configured members of a request's body into our own.
#include "providers/wire/request_body.hpp"

#include "mcp/json/json_walk.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers {
namespace {

constexpr int max_depth = 16;

void append_member(std::string& out, std::string_view key, std::string_view value) {
  if (!out.empty() && out.back() != '{') out += ',';
  append_quoted(out, key);
  out += ':';
  out += value;
}

// Merges `over` into `ours`: members of objects one by one, down to max_depth.
std::string merged(std::string_view ours, std::string_view over, int depth) {
  if (!walk::is_object(ours) || !walk::is_object(over) || depth == max_depth) return std::string(over);
  std::string out = "{";
  walk::members(ours, [&](std::string_view key, std::string_view value) {
    const auto other = walk::find(over, key);
    if (other != "null") append_member(out, key, other.empty() ? std::string(value) : merged(value, other, depth + 1));
  });
  walk::members(over, [&](std::string_view key, std::string_view value) {
    if (value != "null" && walk::find(ours, key).empty()) append_member(out, key, value);
  });
  return out + "}";
}

}  // namespace

bool is_reserved_member(std::string_view key) {
  constexpr std::array<std::string_view, 10> reserved{"model",        "stream",   "messages",          "input",
                                                      "tools",        "contents", "systemInstruction", "system",
                                                      "instructions", "store"};
  return std::ranges::find(reserved, key) != reserved.end();
}

std::string body_members::write(const raw_json& extra) const {
  std::string out;
  const auto over = extra.text();
  for (const auto& [key, value] : members_) {
    const auto other = is_reserved_member(key) ? std::string_view() : walk::find(over, key);
    if (other != "null") append_member(out, key, other.empty() ? value : merged(value, other, 1));
  }
  walk::members(over, [&](std::string_view key, std::string_view value) {
    const bool ours = std::ranges::any_of(members_, [&](const auto& m) { return m.first == key; });
    if (!ours && value != "null" && !is_reserved_member(key)) append_member(out, key, value);
  });
  return out;
}

}  // namespace mcpbx::providers
