// `mcpbx tools`: lists the tools of all servers or shows one, or prints definitions in the form of a model's API.
#include "conf/model/key_values.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/text_lists.hpp"
#include "daemon/cli/text/tool_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

struct tools_options {
  std::string pattern, format, profile, search;
};

// Returns the values of `tools --format`: the APIs of model entries that send requests, and a short word for the first.
std::vector<std::string_view> api_formats() {
  std::vector<std::string_view> all{"openai"};
  all.insert(all.end(), conf::model::endpoint_apis.begin(), conf::model::endpoint_apis.end());
  return all;
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string all;
  for (const auto w : words) all.append(all.empty() ? "" : ", ").append(w);
  return all;
}

// Returns the first line of a description, cut for a table.
std::string summary(const json::raw_json& definition) {
  std::string text = text::summary_of(definition);
  if (text.size() > 90) text = std::string(cut_utf8(text, 87)) + "...";
  return text;
}

void show_tool(context& c, const json::raw_json& tool, const std::string& server) {
  terminals::show(*c.screen, text::tool_facts(tool, server));
  const auto arguments = text::argument_table(json::find_member(tool, "inputSchema"));
  c.screen->out(arguments.empty() ? "\nno arguments\n" : "\n");
  if (!arguments.empty()) terminals::show(*c.screen, arguments);
}

// Shows the tool of this name. Returns false if there is none.
result<bool> show_named(context& c, link::daemon_connection& link, const std::string& name, int& status) {
  const auto got = call_or_explain(c, link, "mcpbx/tools", json::json_object("name", name), status);
  if (!got) return std::unexpected(got.error());
  bool found = false;
  json::for_each_element(json::find_member(*got, "tools"), [&](const json::raw_json& tool) {
    show_tool(c, tool, json::member_text(*got, "server"));
    found = true;
    return false;
  });
  return found;
}

// Returns a hint at tools with like names, or "".
std::string near_tools(link::daemon_connection& link, const std::string& name) {
  const auto why = link.call("mcpbx/why", json::json_object("tool", name));
  if (!why || why->error) return {};
  const auto near = link::texts_of(why->result, "near");
  return near.empty() ? "" : " (near names: " + redact::printable(link::listed(near)) + ")";
}

int tools(context& c, const tools_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, true, status, {.profile = o.profile});
  if (!made) return status;
  wait_for_servers(c, *made);
  if (!o.pattern.empty() && o.format.empty() && o.search.empty() && !c.json &&
      o.pattern.find_first_of("*?") == std::string::npos) {
    const auto shown = show_named(c, made->link, o.pattern, status);
    if (!shown) return status;
    if (*shown) return terminals::done;
  }
  std::string params;
  json::json_writer w(params);
  w.begin_object().filled("pattern", o.pattern).filled("format", o.format).filled("search", o.search).end_object();
  const auto got = call_or_explain(c, made->link, "mcpbx/tools", params, status);
  if (!got) return status;
  for (const std::string_view told : {"changed", "leftOut", "dropped"})
    json::for_each_element(json::find_member(*got, told), [&](const json::raw_json& tool) {
      c.screen->err_line(redact::printable(json::member_text(tool, "reason")));
      return true;
    });
  report_starting(c, made->link);
  const json::raw_json list = json::find_member(*got, "tools");
  if (const auto prompt = json::find_member(*got, "prompt"); prompt && !c.json) {
    c.screen->out_line(prompt.as_string().value_or(""));
    return terminals::done;
  }
  if (c.json || !o.format.empty()) {
    c.screen->out_json(list ? list.text() : got->text());
    return terminals::done;
  }
  if (c.screen->out_is_terminal()) {
    const auto lines = text::tool_lines(list, c.screen->out_width(), c.screen->cut_mark());
    for (const auto& line : lines) c.screen->out_line(line);
    if (!lines.empty()) return terminals::done;
  }
  std::vector<std::vector<std::string>> rows;
  json::for_each_element(list, [&](const json::raw_json& tool) {
    rows.push_back({json::member_text(tool, "name"), summary(tool)});
    return true;
  });
  if (rows.empty()) {
    if (!o.search.empty()) {
      c.screen->err_line("no tool has one of these words in its name, title or description; `mcpbx tools` lists all");
      return terminals::done;
    }
    c.screen->err_line(o.pattern.empty() ? "no tools; `mcpbx servers` tells how the tool servers are"
                                         : "no tool matches " + redact::printable(o.pattern) +
                                               near_tools(made->link, o.pattern) + "; `mcpbx tools` lists all");
    return terminals::done;
  }
  c.screen->out(terminals::table(rows));
  return terminals::done;
}

verb_action declare_tools(CLI::App& page) {
  const auto o = std::make_shared<tools_options>();
  page.add_option("GLOB", o->pattern,
                  "a name: everything about this tool; or only names that match, such as 'files__*'")
      ->type_name("");
  page.add_option("--format", o->format,
                  "print definitions as sent (mcp), for an API (" + listed(api_formats()) + ") or as text (react)")
      ->type_name("FORMAT");
  page.add_option("--search", o->search, "tools by words in name, title and description, the best first")
      ->type_name("WORDS");
  page.add_option("-p,--profile", o->profile, "only the tools of this profile")->type_name("NAME");
  return [o](context& c) {
    const auto apis = api_formats();
    const auto& format = o->format;
    if (!o->search.empty() && !format.empty()) {
      c.screen->error(
          "--search prints a table, or with --json the definitions; leave --format out, see `mcpbx tools "
          "--help`");
      return static_cast<int>(terminals::usage);
    }
    if (format.empty() || format == "mcp" || format == "react" || std::ranges::find(apis, format) != apis.end())
      return tools(c, *o);
    auto known = apis;
    known.insert(known.end(), {"mcp", "react"});
    c.screen->error("there is no format `" + format + "`" + did_you_mean(format, known) + "; write mcp, " +
                    listed(apis) + " or react, see `mcpbx tools --help`");
    return static_cast<int>(terminals::usage);
  };
}

}  // namespace

verb verb_tools() {
  return {
      .name = "tools",
      .place = 4,
      .summary = "list the tools of all servers",
      .more =
          R"(Without --format: a table of names and first lines, or, for the name of one tool, its description, arguments and
annotations. With it, or with --json: the definitions as one JSON array, complete.
Servers that are still starting are named on standard error.

Examples:
  mcpbx tools toolbox__calculate
  mcpbx tools 'files__*'
  mcpbx tools --search "read file"
  mcpbx tools --format openai-chat > tools.json)",
      .declare = declare_tools};
}

}  // namespace mcpbx::cli::verbs
