// Chooses the columns and the order of the servers in `mcpbx top`.
#include "daemon/cli/text/top_text.hpp"

#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/text/server_text.hpp"
#include "daemon/cli/text/units_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::cli::text {
namespace {

std::int64_t whole(const json::raw_json& object, std::string_view key) {
  return json::find_member(object, key).as_integer().value_or(0);
}

// Returns a number as it stands, or "".
std::string number(const json::raw_json& object, std::string_view key) {
  return std::string(json::find_member(object, key).text());
}

std::string unless_zero(const json::raw_json& object, std::string_view key) {
  const auto n = whole(object, key);
  return n == 0 ? "" : std::to_string(n);
}

// Returns a duration in three digits or so: "0.42 ms", "7.1 ms", "350 ms", "2.5 s".
std::string short_duration(const json::raw_json& ms_member) {
  if (!ms_member) return "";
  const double ms = std::strtod(std::string(ms_member.text()).c_str(), nullptr);
  const auto with = [](double value, int digits, const char* unit) {
    auto scaled = static_cast<std::int64_t>(value * (digits == 2 ? 100 : digits == 1 ? 10 : 1) + 0.5);
    std::string text = std::to_string(scaled);
    if (digits > 0) {
      const auto least = static_cast<std::size_t>(digits) + 1;
      if (text.size() < least) text.insert(0, least - text.size(), '0');
      text.insert(text.size() - static_cast<std::size_t>(digits), ".");
    }
    return text + unit;
  };
  if (ms >= 10'000) return with(ms / 1000, 0, " s");
  if (ms >= 1000) return with(ms / 1000, 1, " s");
  if (ms >= 10) return with(ms, 0, " ms");
  return with(ms, ms >= 1 ? 1 : 2, " ms");
}

double per_second(const json::raw_json& server) {
  return std::strtod(number(server, "callsPerSecond").c_str(), nullptr);
}

}  // namespace

std::vector<terminals::styled> top_lines(const json::raw_json& live, std::size_t width, std::size_t height,
                                         std::string_view mark) {
  const json::raw_json runs = json::find_member(live, "runs"), memory = json::find_member(live, "memory");
  struct seen_server {
    double speed = 0;  ///< negative calls in a second, so that the busiest one is first
    std::size_t place = 0;
    json::raw_json told;
  };
  std::vector<seen_server> servers;
  std::size_t ready = 0;
  double calls = 0;
  json::for_each_element(json::find_member(live, "servers"), [&](const json::raw_json& s) {
    servers.push_back({-per_second(s), servers.size(), s});
    ready += json::member_text(s, "state") == "ready" ? 1 : 0;
    calls += per_second(s);
    return true;
  });
  std::ranges::sort(servers, {}, [](const seen_server& s) { return std::pair(s.speed, s.place); });
  std::vector<terminals::styled> lines;
  const auto head = [&](std::string text, terminals::look how) {
    lines.push_back(
        {how, width == 0 ? std::move(text) : terminals::cut_columns(text, std::max<std::size_t>(width, 2), mark)});
  };
  const auto tenths = static_cast<std::int64_t>(calls * 10 + 0.5);
  head("mcpbx " + json::member_text(live, "version") + ", up " + duration_in_words(whole(live, "uptimeMs")) + ", " +
           bytes_in_words(std::max<std::int64_t>(whole(memory, "rssBytes"), 0)),
       terminals::look::bold);
  head(counted(whole(live, "callers"), "caller") + ", " + number(runs, "active") + " active of " +
           counted(whole(runs, "total"), "run") + ", " + std::to_string(ready) + " of " +
           counted(static_cast<std::int64_t>(servers.size()), "server") + " ready, " + std::to_string(tenths / 10) +
           "." + std::to_string(tenths % 10) + " calls/s",
       terminals::look::plain);
  lines.emplace_back("");
  const std::size_t room = height == 0 ? servers.size() : height - std::min(height, lines.size() + 1);
  const std::size_t shown = servers.size() <= room ? servers.size() : room - std::min<std::size_t>(room, 1);
  terminals::fitted_table table({{"SERVER"},
                                 {"STATE"},
                                 {"CALLS/S"},
                                 {"P95"},
                                 {"OPEN", 4},
                                 {"QUEUED", 6},
                                 {"CALLS", 3},
                                 {"FAILED", 2},
                                 {"MEMORY", 1},
                                 {"RESTARTS", 5}});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& s = servers[i].told;
    const std::string state = json::member_text(s, "state"), failed = unless_zero(s, "failedCalls");
    table.add({{json::member_text(s, "name"),
                {state, look_of_state(state)},
                number(s, "callsPerSecond"),
                short_duration(json::find_member(s, "p95Ms")),
                unless_zero(s, "openCalls"),
                unless_zero(s, "queuedCalls"),
                number(s, "calls"),
                {failed, failed.empty() ? terminals::look::plain : terminals::look::yellow},
                memory_of(s),
                unless_zero(s, "restarts")}});
  }
  if (servers.empty()) {
    head("no tool servers are configured; `mcpbx add` or `mcpbx import` adds some", terminals::look::dim);
    return lines;
  }
  for (auto& line : table.lines(width, mark)) lines.push_back(std::move(line));
  if (shown < servers.size())
    head("… and " + counted(static_cast<std::int64_t>(servers.size() - shown), "server") + " more",
         terminals::look::dim);
  if (height != 0 && lines.size() > height)
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(height), lines.end());
  return lines;
}

}  // namespace mcpbx::cli::text
