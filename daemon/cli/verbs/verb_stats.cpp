// `mcpbx stats`: tokens, calls and failures of the last days, from the journal.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/text/session_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::array<std::string_view, 4> stats_groups{"model", "server", "tool", "day"};

struct stats_options {
  int days = 30;
  std::string by = "model";
};

// Returns a number in groups of three digits: "1 234 567".
std::string in_groups(const json::raw_json& row, std::string_view key) {
  std::string text = std::to_string(json::find_member(row, key).as_integer().value_or(0));
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), " ");
  return text;
}

terminals::fitted_table::cell failures(const json::raw_json& row, std::string_view key) {
  const auto n = json::find_member(row, key).as_integer().value_or(0);
  return {n == 0 ? "" : in_groups(row, key), terminals::look::yellow};
}

terminals::fitted_table stats_table(const json::raw_json& told, const std::string& by) {
  std::string title = by;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::vector<terminals::fitted_table::column> columns{{title}};
  const bool calls_only = by == "tool" || by == "server";
  if (by == "tool") columns.push_back({"SERVER", 3});
  if (!calls_only)
    columns.insert(columns.end(), {{"RUNS"}, {"FAILED", 2}, {"MODEL CALLS", 4}, {"INPUT"}, {"CACHED", 5}, {"OUTPUT"}});
  columns.insert(columns.end(), {{"CALLS", 1}, {calls_only ? "FAILED" : "CALLS FAILED", calls_only ? 0 : 3}});
  terminals::fitted_table table(std::move(columns));
  const auto add = [&](std::string name, const json::raw_json& row, terminals::look how) {
    std::vector<terminals::fitted_table::cell> cells{{std::move(name), how}};
    if (by == "tool") cells.emplace_back(json::member_text(row, "server"));
    if (!calls_only) {
      cells.emplace_back(in_groups(row, "runs"));
      cells.push_back(failures(row, "failedRuns"));
      for (const auto* key : {"modelCalls", "inputTokens", "cachedTokens", "outputTokens"})
        cells.emplace_back(in_groups(row, key));
    }
    cells.emplace_back(in_groups(row, "calls"));
    cells.push_back(failures(row, "failedCalls"));
    table.add({std::move(cells)});
  };
  json::for_each_element(json::find_member(told, "rows"), [&](const json::raw_json& row) {
    std::string name = json::member_text(row, by);
    add(name.empty() ? "(none)" : std::move(name), row, terminals::look::plain);
    return true;
  });
  if (!table.empty()) add("total", json::find_member(told, "total"), terminals::look::bold);
  return table;
}

int stats(context& c, const stats_options& o) {
  if (std::ranges::find(stats_groups, o.by) == stats_groups.end()) {
    c.screen->error("there is no `--by " + o.by + "`" + did_you_mean(o.by, stats_groups) +
                    "; write model, server, tool or day, see `mcpbx stats --help`");
    return terminals::usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const auto got = call_or_explain(c, made->link, "mcpbx/stats", json::json_object("days", o.days, "by", o.by), status);
  if (!got) return status;
  if (!json::find_member(*got, "complete").is_true())
    c.screen->err_line("mcpbx: the journal is long, and only its latest part was counted; a smaller --days counts all");
  if (c.json) {
    c.screen->out_json(got->text());
    return terminals::done;
  }
  const auto table = stats_table(*got, o.by);
  if (table.empty() && json::find_member(json::find_member(*got, "total"), "runs").as_integer().value_or(0) > 0)
    c.screen->err_line("the runs of these days called no tool; `mcpbx stats --by model` counts their tokens");
  else if (table.empty())
    c.screen->err_line("no runs since " + text::date_of(json::find_member(*got, "sinceMs").as_integer().value_or(0)) +
                       " UTC; `mcpbx ask` begins one, and --days looks further back");
  else
    terminals::show(*c.screen, table);
  return terminals::done;
}

verb_action declare_stats(CLI::App& page) {
  const auto o = std::make_shared<stats_options>();
  page.add_option("--days", o->days, "how far to look back, today counted (30)")
      ->type_name("N")
      ->check(input::whole_number(1, 36'500));
  page.add_option("--by", o->by, "a row for each model, server, tool or day (model)")->type_name("WHAT");
  return [o](context& c) { return stats(c, *o); };
}

}  // namespace

verb verb_stats() {
  return {
      .name = "stats",
      .place = 11,
      .summary = "tokens, calls and failures of the last days",
      .more =
          R"(Counts the runs that the journal has, of all callers. Calls of tools without a model (`mcpbx call`, MCP hosts) are in
no run; `mcpbx top` counts them since the daemon started. Tokens are those that the provider told. Days are days of UTC.

Examples:
  mcpbx stats
  mcpbx stats --days 7 --by tool)",
      .declare = declare_stats};
}

}  // namespace mcpbx::cli::verbs
