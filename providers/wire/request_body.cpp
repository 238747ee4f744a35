// Merges the configured members of a request's body into our own.
#include "providers/wire/request_body.hpp"

#include "mcp/json/json_walk.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers::wire {

bool is_reserved_member(std::string_view key) {
  constexpr std::array<std::string_view, 10> reserved{"model",        "stream",   "messages",          "input",
                                                      "tools",        "contents", "systemInstruction", "system",
                                                      "instructions", "store"};
  return std::ranges::find(reserved, key) != reserved.end();
}

namespace {

constexpr int max_depth = 16;

// Writes the members of `ours`, merged with those of `over` down to max_depth.
void write_merged(json::segment_writer& w, std::string_view ours, std::string_view over, int depth) {
  const auto is_fixed = [&](std::string_view key) { return depth == 0 && is_reserved_member(key); };
  json::walk::members(ours, [&](std::string_view key, std::string_view value) {
    const auto other = is_fixed(key) ? std::string_view() : json::walk::find(over, key);
    if (other == "null") return;
    w.key(key);
    if (!json::walk::is_object(value) || !json::walk::is_object(other) || depth + 1 == max_depth) {
      w.token(other.empty() ? value : other);
    } else {
      w.begin_object();
      write_merged(w, value, other, depth + 1);
      w.end_object();
    }
  });
  json::walk::members(over, [&](std::string_view key, std::string_view value) {
    if (value != "null" && !is_fixed(key) && json::walk::find(ours, key).empty()) w.key(key).token(value);
  });
}

}  // namespace

void write_members(json::segment_writer& w, std::string_view ours, const json::raw_json& extra) {
  write_merged(w, ours, extra.text(), 0);
}

void write_sampling(json::json_writer& w, const call_settings& settings, std::string_view top_p) {
  if (!settings.temperature.empty()) w.key("temperature").token(settings.temperature);
  if (!settings.top_p.empty()) w.key(top_p).token(settings.top_p);
}

}  // namespace mcpbx::providers::wire
