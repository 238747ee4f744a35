// `mcpbx models`: lists the model entries, and with --remote the models of their endpoints.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

struct models_options {
  std::string name;     ///< one entry only
  bool remote = false;  ///< ask the endpoints for their models
};

std::string params_of(const models_options& o) {
  std::string params;
  json::json_writer w(params);
  w.begin_object().filled("model", o.name).member("remote", o.remote).end_object();
  return params;
}

std::string notes_of(const json::raw_json& row, bool with_problem) {
  std::string notes = json::find_member(row, "default").is_true() ? "default" : "";
  const auto add = [&](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
  if (const auto other = json::member_text(row, "fallbackModel"); !other.empty()) add("fallback: " + other);
  if (const auto problem = json::member_text(row, "problem"); with_problem && !problem.empty()) add(problem);
  return notes;
}

// Prints the table as wide as the terminal, with the problem of an entry below its row.
void show_fitted(context& c, const json::raw_json& list) {
  terminals::fitted_table table({{"NAME"}, {"API", 2}, {"MODEL"}, {"ENDPOINT", 1}, {"NOTES"}});
  json::for_each_element(list, [&](const json::raw_json& row) {
    const auto problem = json::member_text(row, "problem");
    table.add({{{json::member_text(row, "name"), problem.empty() ? terminals::look::plain : terminals::look::red},
                json::member_text(row, "api"),
                json::member_text(row, "model"),
                json::member_text(row, "endpoint"),
                notes_of(row, false)},
               problem});
    return true;
  });
  terminals::show(*c.screen, table);
}

// Prints the table as scripts know it.
void show_all_columns(context& c, const json::raw_json& list) {
  std::vector<std::vector<std::string>> rows{{"NAME", "API", "MODEL", "ENDPOINT", "NOTES"}};
  json::for_each_element(list, [&](const json::raw_json& row) {
    rows.push_back({json::member_text(row, "name"), json::member_text(row, "api"), json::member_text(row, "model"),
                    json::member_text(row, "endpoint"), notes_of(row, true)});
    return true;
  });
  c.screen->out(terminals::table(rows));
}

// Prints the models of an endpoint below the table. Returns false if the endpoint failed to list them.
bool show_offered(context& c, const json::raw_json& row) {
  const auto name = json::member_text(row, "name"), problem = json::member_text(row, "offeredProblem");
  if (!problem.empty()) {
    c.screen->err_line(name + ": " + redact::printable(problem));
    return json::member_text(row, "endpoint").empty();
  }
  std::vector<std::vector<std::string>> lines;
  json::for_each_element(json::find_member(row, "offered"), [&](const json::raw_json& one) {
    lines.push_back({"  " + json::member_text(one, "id"), json::member_text(one, "name")});
    return true;
  });
  c.screen->out("\n" + name + " offers" + (lines.empty() ? " nothing" : "") + ":\n" + terminals::table(lines));
  if (json::find_member(row, "more").is_true()) c.screen->out("  … and others\n");
  return true;
}

int models(context& c, const models_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const auto got = call_or_explain(c, made->link, "mcpbx/models", params_of(o), status);
  if (!got) return status;
  bool all_told = true;
  if (c.json) {
    c.screen->out_json(got->text());
    json::for_each_element(*got, [&](const json::raw_json& row) {
      if (!json::member_text(row, "offeredProblem").empty() && !json::member_text(row, "endpoint").empty())
        all_told = false;
      return true;
    });
    return all_told ? terminals::done : terminals::provider_failed;
  }
  if (c.screen->out_is_terminal())
    show_fitted(c, *got);
  else
    show_all_columns(c, *got);
  if (o.remote)
    json::for_each_element(*got, [&](const json::raw_json& row) {
      if (!show_offered(c, row)) all_told = false;
      return true;
    });
  return all_told ? terminals::done : terminals::provider_failed;
}

verb_action declare_models(CLI::App& page) {
  const auto o = std::make_shared<models_options>();
  page.add_option("NAME", o->name, "only this entry")->type_name("");
  page.add_flag("--remote", o->remote, "ask each endpoint which models it offers");
  return [o](context& c) { return models(c, *o); };
}

}  // namespace

verb verb_models() {
  return {
      .name = "models",
      .place = 7,
      .summary = "list the configured models, and what their endpoints offer",
      .more =
          R"(The entries under "models" in the configuration: what speaks which API where, and why one cannot be used now, such as a
variable or a file that a key names and that is missing. Programs of ${cmd:…} are not run for it. With --remote every
endpoint is asked (30 s at most) for what `model` of an entry may name; the status is 4 when one gave no list.

Examples:
  mcpbx models
  mcpbx models local --remote
  mcpbx --json models --remote)",
      .declare = declare_models};
}

}  // namespace mcpbx::cli::verbs
