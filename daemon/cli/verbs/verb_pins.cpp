// `mcpbx pins`, `pins show`, `pins accept`: lists tools that differ from their pins, shows the differences, approves
// them.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "daemon/cli/terminal/line_diff.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

// Returns a name that can be typed: the one under which the tool is offered, else SERVER__TOOL.
std::string name_of(const json::raw_json& row) {
  const std::string name = json::member_text(row, "name");
  return name.empty() ? json::member_text(row, "server") + "__" + json::member_text(row, "tool") : name;
}

// Reports a problem with the pins as an error and returns the exit status.
int problem_of(context& c, const json::raw_json& report) {
  const std::string problem = json::member_text(report, "problem");
  if (problem.empty()) return terminals::done;
  if (c.json)
    c.screen->err_line("mcpbx: " + redact::printable(problem));  // stdout has the list already
  else
    c.screen->error(problem);
  return terminals::no_answer;
}

std::string standing(const json::raw_json& row) {
  std::string text = json::member_text(row, "state");
  if (json::find_member(row, "withheld").is_true()) text += ", not offered";
  return text;
}

// Returns a member for people: texts as they are, other values as JSON.
std::string shown(const json::raw_json& value) {
  return value.as_string().value_or(std::string(value.text()));
}

// Returns the members of a definition: the best known first, then the others in their order.
std::vector<std::string> members_of(const json::raw_json& was, const json::raw_json& now) {
  std::vector<std::string> keys{"name", "title", "description", "annotations", "inputSchema", "outputSchema"};
  for (const auto& side : {was, now})
    if (const auto object = json::raw_object::open(side))
      object->for_each([&](std::string_view key, const json::raw_json&) {
        if (std::ranges::find(keys, key) == keys.end()) keys.emplace_back(key);
      });
  return keys;
}

bool differs(const std::vector<terminals::diff_line>& lines) {
  return std::ranges::any_of(lines, [](const terminals::diff_line& line) { return line.mark != ' '; });
}

std::string key_shown(std::string_view key) {
  return shell_word(key) == key ? std::string(key) : terminals::quoted_name(key);
}

// Prints the members of a definition, differing ones line by line. No line begins with foreign text, and no character
// is hidden.
void show_definitions(context& c, const json::raw_json& row) {
  const json::raw_json was = json::find_member(row, "pinned"), now = json::find_member(row, "listed");
  const auto width = c.screen->out_width();
  bool hides = false;
  std::string text;
  const auto side = [&](std::string_view head, const json::raw_json& value) {
    if (!value) return;
    hides = hides || redact::has_hidden(shown(value), true);
    text += terminals::framed(head, shown(value), width);
  };
  for (const auto& key : members_of(was, now)) {
    const json::raw_json before = json::find_member(was, key), after = json::find_member(now, key);
    if (!before && !after) continue;
    text += terminals::framed("  ", key_shown(key), width);
    if (before.text() == after.text()) {
      side("    ", before);
    } else if (const auto lines =
                   terminals::line_diff(terminals::comparable_lines(before), terminals::comparable_lines(after));
               differs(lines)) {
      for (const auto& [mark, line] : lines) {
        hides = hides || redact::has_hidden(line);
        text += terminals::framed(std::string("  ") + mark + " ", line, width);
      }
    } else {
      // The values differ in their spelling only, such as that of a member's name.
      side("  - ", before);
      side("  + ", after);
    }
  }
  if (hides) text.append(terminals::hidden_note).append("\n");
  c.screen->out(text);
}

void show_row(context& c, const json::raw_json& row) {
  c.screen->out(terminals::framed(
      "", terminals::quoted_name(name_of(row)) + ": " + standing(row) + " (pin: " + json::member_text(row, "pin") + ")",
      c.screen->out_width()));
  const std::string pinned = json::member_text(row, "pinnedSha256"), now = json::member_text(row, "sha256");
  if (!pinned.empty()) c.screen->out_line("  pinned " + json::member_text(row, "pinnedAt") + ", sha256 " + pinned);
  if (!now.empty() && now != pinned) c.screen->out_line("  now sha256 " + now);
  if (json::find_member(row, "originOnly").is_true())
    c.screen->out_line(
        "  the definition is the same; the command, arguments, environment or address of its server is another one");
  if (!pinned.empty() && !json::find_member(row, "pinned"))
    c.screen->out_line("  what was pinned is too long to be kept; its hash is all there is");
  show_definitions(c, row);
}

// Prints the rows of a report that differ from their pins; with `also_ok` all rows. Returns the number of rows printed.
std::size_t show_rows(context& c, const json::raw_json& list, bool also_ok) {
  std::size_t told = 0;
  json::for_each_element(list, [&](const json::raw_json& row) {
    if (!also_ok && json::member_text(row, "state") == "ok") return true;
    if (told++ > 0) c.screen->out("\n");
    show_row(c, row);
    return true;
  });
  return told;
}

std::size_t rows_of(const json::raw_json& list) {
  std::size_t all = 0;
  json::for_each_element(list, [&](const json::raw_json&) { return ++all, true; });
  return all;
}

std::string whole_of(const std::string& name) {
  return json::json_object("definitions", true, "name", name);
}

// Asks the person at the terminal to approve the shown rows. Without a terminal, the call itself is the approval.
bool agreed(context& c) {
  if (c.json || !terminals::can_ask()) return true;
  link::catch_interrupts();
  const auto said = terminals::ask_yes(*c.screen, "approve this? [y/N] ");
  if (!said) c.screen->err_line("nothing was approved");
  return said;
}

// States in the order of the table: those that need a decision first.
constexpr std::array<std::string_view, 5> states{"changed", "new", "unseen", "gone", "ok"};

// Returns the rows in the order of their states, without those that are ok or gone unless `all`.
std::vector<json::raw_json> by_state(const json::raw_json& list, bool all) {
  std::array<std::vector<json::raw_json>, states.size() + 1> groups;  // the last one for states that are not known here
  json::for_each_element(list, [&](const json::raw_json& row) {
    const auto state = json::member_text(row, "state");
    const auto at = static_cast<std::size_t>(std::ranges::find(states, state) - states.begin());
    if (all || (state != "ok" && state != "gone")) groups.at(at).push_back(row);
    return true;
  });
  std::vector<json::raw_json> rows;
  for (const auto& group : groups) rows.insert(rows.end(), group.begin(), group.end());
  return rows;
}

terminals::look look_of_pin(const json::raw_json& row) {
  const std::string state = json::member_text(row, "state");
  if (json::find_member(row, "withheld").is_true()) return terminals::look::red;
  return state == "changed" || state == "new" ? terminals::look::yellow : terminals::look::plain;
}

// Prints the table of pinned definitions.
int pins(context& c, bool all) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const auto report = call_or_explain(c, made->link, "mcpbx/pins/list", "{}", status);
  if (!report) return status;
  const json::raw_json list = json::find_member(*report, "pins");
  if (c.json) {
    c.screen->out_json(list.text());
    return problem_of(c, *report);
  }
  const auto rows = by_state(list, all);
  terminals::fitted_table table({{"SERVER"}, {"TOOL"}, {"STATE"}, {"PINNED", 1}});
  for (const auto& row : rows)
    table.add({{redact::visible(json::member_text(row, "server")),
                key_shown(json::member_text(row, "tool")),
                {standing(row), look_of_pin(row)},
                json::member_text(row, "pinnedAt")}});
  if (!rows.empty()) terminals::show(*c.screen, table);
  const auto others = rows_of(list) - rows.size();
  if (others > 0)
    c.screen->err_line((rows.empty() ? "nothing needs a decision; " : "") + counted(others, "tool") +
                       (others == 1 ? " is" : " are") + " as pinned or gone (`mcpbx pins --all`)");
  else if (rows.empty() && json::member_text(*report, "problem").empty())
    c.screen->err_line(
        "nothing is pinned; tools are when their server is first seen, unless its entry says \"pin\": "
        "\"off\"");
  return problem_of(c, *report);
}

// Lists the differences of a server or a tool.
int show_pins(context& c, const std::string& name) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const auto report = call_or_explain(c, made->link, "mcpbx/pins/list", whole_of(name), status);
  if (!report) return status;
  const json::raw_json list = json::find_member(*report, "pins");
  if (c.json) {
    c.screen->out_json(list.text());
    return problem_of(c, *report);
  }
  // For a whole server, leave out the tools that match their pins.
  const auto all = rows_of(list);
  const auto told = show_rows(c, list, all == 1);
  const auto hash = json::member_text(*report, "sha256");
  if (told == 0 && all > 0)
    c.screen->err_line("all " + std::to_string(all) + " tools are as they were pinned");
  else if (told > 0 && !hash.empty())
    c.screen->err_line("`mcpbx pins accept " + shell_word(name) + " --sha256 " + hash + "` approves exactly this");
  return problem_of(c, *report);
}

// Approves the definitions listed now; with `sha256` a single tool, and only if it still has this hash.
int accept_pins(context& c, const std::string& name, const std::string& sha256) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  std::string hash = sha256;
  if (hash.empty()) {
    // The hash binds the approval to the shown report, so that a change in between is not approved.
    const auto report = call_or_explain(c, made->link, "mcpbx/pins/list", whole_of(name), status);
    if (!report) return status;
    if (const int problem = problem_of(c, *report); problem != terminals::done) return problem;
    hash = json::member_text(*report, "sha256");
    if (!c.json && show_rows(c, json::find_member(*report, "pins"), false) > 0 && !agreed(c))
      return terminals::no_answer;
  }
  const auto done_now =
      call_or_explain(c, made->link, "mcpbx/pins/accept", json::json_object("name", name, "sha256", hash), status);
  if (!done_now) return status;
  if (c.json) {
    c.screen->out_json(done_now->text());
    return terminals::done;
  }
  const std::string count(json::find_member(*done_now, "accepted").text());
  c.screen->err_line(count == "0" ? "everything was as pinned already"
                                  : "approved " + count + (count == "1" ? " tool" : " tools"));
  return terminals::done;
}

struct pins_options {
  std::string name, sha256;
  bool all = false;
};

verb_action declare_pins(CLI::App& page) {
  const auto o = std::make_shared<pins_options>();
  const auto add_name = [&](CLI::App& action) {
    action.add_option("NAME", o->name, "a tool as `mcpbx tools` lists it, SERVER__TOOL, or a server")
        ->required()
        ->type_name("");
  };
  page.require_subcommand(0, 1);
  page.add_flag("--all", o->all, "also the tools that are as pinned or gone");
  auto* show = page.add_subcommand("show", "what was pinned and what is listed now, line by line: - before, + now");
  add_name(*show);
  auto* accept = page.add_subcommand("accept", "approve what is listed now");
  add_name(*accept);
  accept->add_option("--sha256", o->sha256, "only if this is the hash of the tool's definition")->type_name("HASH");
  return [o, show, accept](context& c) {
    if (show->parsed()) return show_pins(c, o->name);
    if (accept->parsed()) return accept_pins(c, o->name, o->sha256);
    return pins(c, o->all);
  };
}

}  // namespace

verb verb_pins() {
  return {
      .name = "pins",
      .place = 12,
      .summary = "tool definitions that are not as they were pinned",
      .more =
          R"(The tools of a server are pinned when it is first seen: their definitions and where the server comes from, as a hash. States:
ok, changed, new (its server has pins, it has none), gone, unseen (its server has not listed its tools yet). With "pin": "warn"
in the entry of a server (the default) tools that are changed or new are offered with a warning; with "block" (the default of
servers with a url) they are not until they are approved; "off" looks at nothing. The table begins with changed and new tools,
which need a decision; those that are ok or gone are shown with --all.

Examples:
  mcpbx pins
  mcpbx pins --all
  mcpbx pins show git__log       or a server: all of its tools that are not ok
  mcpbx pins accept git          shows what it approves; at a terminal it asks)",
      .declare = declare_pins};
}

}  // namespace mcpbx::cli::verbs
