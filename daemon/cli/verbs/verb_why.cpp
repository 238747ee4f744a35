// `mcpbx why`: which rule offers or hides a tool.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/text_lists.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::cli::verbs {
namespace {

struct why_options {
  std::string tool, profile;
};

void show_reasons(context& c, const json::raw_json& told) {
  terminals::fitted_table rows({{""}, {""}, {""}});
  rows.wrap_last();
  json::for_each_element(json::find_member(told, "steps"), [&](const json::raw_json& step) {
    const bool ok = json::find_member(step, "ok").is_true();
    const auto mend = json::member_text(step, "mend");
    rows.add({{{ok ? "ok" : "no", ok ? terminals::look::green : terminals::look::red},
               json::member_text(step, "check"),
               redact::printable(json::member_text(step, "text"))},
              mend.empty() ? "" : "mend: " + redact::printable(mend)});
    return true;
  });
  const auto approval = json::find_member(told, "approval");
  if (json::find_member(approval, "needed").is_true())
    rows.add({{{"asks", terminals::look::yellow}, "approve", redact::printable(json::member_text(approval, "text"))}});
  if (!rows.empty()) terminals::show(*c.screen, rows);
}

int why(context& c, const why_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  wait_for_servers(c, *made);
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("tool", o.tool).filled("profile", o.profile).end_object();
  const auto got = call_or_explain(c, made->link, "mcpbx/why", params, status);
  if (!got) return status;
  const auto outcome = json::member_text(*got, "outcome"), name = json::member_text(*got, "name");
  if (c.json) {
    c.screen->out_json(got->text());
    return outcome == "offered" ? terminals::done : outcome == "hidden" ? terminals::no_answer : terminals::no_such;
  }
  show_reasons(c, *got);
  if (outcome == "unknown") {
    const auto near = link::texts_of(*got, "near");
    c.screen->error("there is no tool \"" + redact::printable(o.tool) + "\"" +
                    (near.empty() ? "" : " (near names: " + redact::printable(link::listed(near)) + ")") +
                    "; `mcpbx tools` lists them");
    return terminals::no_such;
  }
  if (outcome == "hidden") {
    c.screen->out_line(terminals::styled(terminals::look::red, redact::printable(o.tool) + " is hidden"));
    return terminals::no_answer;
  }
  c.screen->out_line(terminals::styled(terminals::look::green, redact::printable(name) + " is offered"));
  return terminals::done;
}

verb_action declare_why(CLI::App& page) {
  const auto o = std::make_shared<why_options>();
  page.add_option("TOOL", o->tool, "its name, as `mcpbx tools` shows it, or the server's own")
      ->required()
      ->type_name("");
  page.add_option("-p,--profile", o->profile, "as callers under this profile see it")->type_name("PROFILE");
  return [o](context& c) { return why(c, *o); };
}

}  // namespace

verb verb_why() {
  return {
      .name = "why",
      .place = 11,
      .summary = "which rule offers or hides a tool",
      .more =
          R"(Follows a tool on its way to its callers: the state of its server, the server's list, tools.allow and tools.deny of the
entry, its name, its pins, the profile, and the rules that ask a person before a call. Each step is ok or says no, with
the pattern that decides and the mend.

The status is 0 for a tool that is offered, 1 for one that is hidden, 5 for one that nobody has; near names are told.

Example:
  mcpbx why toolbox__calculate)",
      .declare = declare_why};
}

}  // namespace mcpbx::cli::verbs
