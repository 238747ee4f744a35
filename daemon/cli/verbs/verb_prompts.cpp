// `mcpbx prompts`: lists the prompts of all tool servers, or fills one in and shows its messages.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/mcp_contents.hpp"
#include "daemon/cli/base/person_answers.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/prompt_words.hpp"
#include "daemon/cli/text/offer_text.hpp"
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

constexpr std::array<std::string_view, 2> prompt_actions{"list", "get"};

struct prompts_options {
  std::string action, name, profile;
  std::vector<std::string> arguments;  ///< key=value
};

int list_prompts(context& c, link::daemon_connection& link) {
  int status = 0;
  const auto all = list_of(c, link, "prompts/list", "prompts", status);
  if (!all) return status;
  report_starting(c, link);
  if (c.json)
    c.screen->out_json(array_of(*all));
  else if (all->empty())
    c.screen->err_line("no prompts; `mcpbx servers` tells what each tool server offers");
  else if (c.screen->out_is_terminal())
    terminals::show(*c.screen, text::offer_table(text::prompt_rows(*all)));
  else
    c.screen->out(terminals::table(text::prompt_rows(*all)));
  return terminals::done;
}

int get_prompt(context& c, link::daemon_connection& link, const prompts_options& o) {
  const auto arguments = input::prompt_arguments(o.arguments);
  if (!arguments) {
    c.screen->error(arguments.error().message);
    return terminals::usage;
  }
  int status = 0;
  const auto all = list_of(c, link, "prompts/list", "prompts", status);
  if (!all) return status;
  const auto known =
      std::ranges::find(*all, o.name, [](const json::raw_json& p) { return json::member_text(p, "name"); });
  if (known == all->end()) {
    c.screen->error("there is no prompt `" + redact::printable(cut_utf8(o.name, 128)) + "`" +
                    input::near_name(o.name, *all, "name") +
                    "; `mcpbx prompts` lists them all, `mcpbx servers` tells why a server's may be missing");
    return terminals::no_such;
  }
  if (const auto missing = input::missing_arguments(*known, o.arguments); !missing.empty()) {
    c.screen->error("the prompt " + o.name + " needs the argument " + redact::printable(missing) + "; write " +
                    redact::printable(missing) + "=VALUE");
    return terminals::usage;
  }
  for (const auto& hint : input::unknown_arguments(*known, o.arguments))
    c.screen->err_line("mcpbx: " + redact::printable(hint));
  link::catch_interrupts();
  const auto got = call_with_questions(c, link, "prompts/get",
                                       json::json_object("name", o.name, "arguments", json::raw_json::own(*arguments)),
                                       person_of(c));
  if (!got) return explain(c, got.error());
  if (got->error) return explain(c, *got);
  if (c.json)
    c.screen->out_json(got->result.text());
  else
    for (const auto& line : text::prompt_lines(got->result)) c.screen->out_line(line);
  return terminals::done;
}

int prompts(context& c, const prompts_options& o) {
  const std::string action = o.action.empty() ? "list" : o.action;
  const auto wrong = [&](const std::string& what) {
    c.screen->error(what + "; see `mcpbx prompts --help`");
    return terminals::usage;
  };
  if (std::ranges::find(prompt_actions, action) == prompt_actions.end())
    return wrong("`prompts` knows no `" + redact::printable(action) + "`" + did_you_mean(action, prompt_actions));
  if (action == "get" && o.name.empty()) return wrong("`prompts get` needs the name of a prompt");
  if (action == "list" && !o.name.empty()) return wrong("`prompts list` takes no name; `prompts get` does");
  int status = 0;
  auto made = connect_or_explain(c, true, status, {.profile = o.profile});
  if (!made) return status;
  if (auto ready = link::initialize(made->link, MCPBX_VERSION, answerable(person_of(c))); !ready)
    return explain(c, ready.error());
  wait_for_servers(c, *made);
  return action == "get" ? get_prompt(c, made->link, o) : list_prompts(c, made->link);
}

verb_action declare_prompts(CLI::App& page) {
  const auto o = std::make_shared<prompts_options>();
  page.add_option("ACTION", o->action, "list (also without a word) or get")->type_name("");
  page.add_option("NAME", o->name, "get: the prompt, as the list names it")->type_name("");
  page.add_option("ARGUMENT", o->arguments, "get: an argument of the prompt as key=value")->type_name("");
  page.add_option("-p,--profile", o->profile, "only the prompts of this profile")->type_name("NAME");
  return [o](context& c) { return prompts(c, *o); };
}

}  // namespace

verb verb_prompts() {
  return {
      .name = "prompts",
      .place = 5,
      .summary = "list the prompts of all servers, or show one filled in",
      .more =
          R"(A prompt is a text that a tool server offers to begin a conversation with; `mcpbx ask --prompt NAME` does that. In the list
arguments in brackets may be left out.

  list                   all prompts; with --json the definitions as one array
  get NAME [k=v …]       the messages of one; with --json the result as the server sent it

Examples:
  mcpbx prompts
  mcpbx prompts get git__commit_message style=short)",
      .declare = declare_prompts,
      .actions = prompt_actions};
}

}  // namespace mcpbx::cli::verbs
