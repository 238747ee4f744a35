// `mcpbx servers`: lists the tool servers with their state, and the last words of those that failed; or shows one.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "daemon/cli/text/server_text.hpp"
#include "daemon/cli/text/status_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

std::string number_of(const json::raw_json& object, std::string_view key) {
  const json::raw_json value = json::find_member(object, key);
  return value && !value.is_null() ? std::string(value.text()) : "";
}

// Prints what the servers wrote last that are not well.
void show_last_words(context& c, const json::raw_json& list) {
  json::for_each_element(list, [&](const json::raw_json& s) {
    const std::string state = json::member_text(s, "state"), said = json::member_text(s, "stderr");
    if (said.empty() || state == "ready" || state == "lazy" || state == "disabled") return true;
    c.screen->out("\n" + json::member_text(s, "name") +
                  (json::member_text(s, "exit").empty() ? "" : ", " + json::member_text(s, "exit")) + ", stderr:\n");
    const std::string tail(tail_utf8(said, 600));
    c.screen->out(c.screen->out_is_terminal() ? terminals::framed("  | ", trimmed(tail), c.screen->out_width())
                                              : tail + "\n");
    return true;
  });
}

// Prints the table as scripts know it, with all columns.
void show_plain(context& c, const json::raw_json& list) {
  std::vector<std::vector<std::string>> rows{
      {"NAME", "STATE", "ERA", "REVISION", "TOOLS", "PROMPTS", "RESOURCES", "PID", "MEMORY", "RESTARTS", "LAST ERROR"}};
  json::for_each_element(list, [&](const json::raw_json& s) {
    rows.push_back({json::member_text(s, "name"), json::member_text(s, "state"), json::member_text(s, "era"),
                    json::member_text(s, "revision"), number_of(s, "tools"), number_of(s, "prompts"),
                    number_of(s, "resources"), number_of(s, "pid"), text::memory_of(s), number_of(s, "restarts"),
                    text::trouble_of(s)});
    return true;
  });
  c.screen->out(terminals::table(rows));
}

int show_one(context& c, const json::raw_json& list, const std::string& name) {
  json::raw_json found;
  std::vector<std::string> names;
  json::for_each_element(list, [&](const json::raw_json& s) {
    names.push_back(json::member_text(s, "name"));
    if (names.back() == name) found = s;
    return true;
  });
  if (!found) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    c.screen->error("there is no tool server \"" + name + "\"" + did_you_mean(name, known) +
                    "; `mcpbx servers` lists them");
    return terminals::no_such;
  }
  if (c.json)
    c.screen->out_json(found.text());
  else
    terminals::show(*c.screen, text::server_facts(found));
  return terminals::done;
}

int servers(context& c, const std::string& name) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  auto got = call_or_explain(c, made->link, "mcpbx/servers", "{}", status);
  if (!got) return status;
  const json::raw_json list = *got;
  if (!name.empty()) return show_one(c, list, name);
  if (c.json) {
    c.screen->out_json(list.text());
    return terminals::done;
  }
  const auto known = text::server_table(list);
  if (known.empty()) {
    c.screen->err_line("no tool servers are configured");
    return terminals::done;
  }
  if (c.screen->out_is_terminal())
    terminals::show(*c.screen, known);
  else
    show_plain(c, list);
  json::for_each_element(list, [&](const json::raw_json& s) {
    if (const std::string pins = json::member_text(s, "pins"); !pins.empty()) {
      c.screen->out("\n");
      for (const auto& line : terminals::wrapped(pins, c.screen->out_width())) c.screen->out_line(line);
    }
    return true;
  });
  show_last_words(c, list);
  return terminals::done;
}

verb_action declare_servers(CLI::App& page) {
  const auto name = std::make_shared<std::string>();
  page.add_option("NAME", *name, "everything about this one")->type_name("");
  return [name](context& c) { return servers(c, *name); };
}

}  // namespace

verb verb_servers() {
  return {
      .name = "servers",
      .place = 8,
      .summary = "how the tool servers are",
      .more =
          R"(At a terminal the table is as wide as the terminal, with the last error of a server below its row; elsewhere it has all
columns. With NAME: state, command, process, protocol, tools, what else it offers and last error of this server, one a
line. `offers` has the capabilities that the server declared, with its extensions.

States: disabled, starting, ready, lazy (starts at its first call), restarting, crash_loop (ended five times within
10 s; it is tried again, ever more rarely), failed (could not be started; tried again likewise), stopped. What a server
that is not well wrote last stands below the table. LAST ERROR quotes the last line of its stderr that has the word error,
cannot, fatal, panic or exception in it, or the end of a Python traceback, else its last line; the error goes away when
the server has answered a call or has been ready for a minute.

Examples:
  mcpbx servers
  mcpbx servers files)",
      .declare = declare_servers};
}

}  // namespace mcpbx::cli::verbs
