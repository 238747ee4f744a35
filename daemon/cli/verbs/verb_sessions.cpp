// `mcpbx sessions`: lists, shows, resumes and removes stored conversations.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/option_checks.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/session_text.hpp"
#include "daemon/cli/verbs/verb_ask.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli {
namespace {

constexpr std::array<std::string_view, 4> actions{"list", "show", "resume", "rm"};

struct sessions_options {
  std::string action, id;
  ask_options question;           ///< for resume; its text may be empty
  bool question_options = false;  ///< some option of `question` was given
  std::string format;             ///< for show: markdown or jsonl
  int limit = 50;                 ///< for list: largest number of sessions
  bool all = false;               ///< for list: include sessions of other doors
};

int list(context& c, daemon_connection& link, int limit, bool all_of_them) {
  int status = 0;
  std::string params;
  json_writer w(params);
  w.begin_object().member("limit", limit).set("all", all_of_them).end_object();
  const auto got = call_or_explain(c, link, "mcpbx/sessions/list", params, status);
  if (!got) return status;
  const auto all = find_member(*got, "sessions");
  if (c.json) {
    c.screen->out_json(all.text());
    return done;
  }
  std::vector<std::vector<std::string>> rows{{"SESSION", "LAST USED (UTC)", "RUNS", "MODEL", "TITLE"}};
  if (all_of_them) rows[0].insert(rows[0].begin() + 1, "BEGUN BY");
  for_each_element(all, [&](const raw_json& s) {
    rows.push_back({member_text(s, "session"), date_of(find_member(s, "usedMs").as_integer().value_or(0)),
                    std::string(find_member(s, "runCount").text()), member_text(s, "model"),
                    member_text(s, "title") + (find_member(s, "running") ? " (going on)" : "")});
    if (all_of_them) rows.back().insert(rows.back().begin() + 1, member_text(s, "principal"));
    return true;
  });
  if (rows.size() == 1)
    c.screen->err_line("no sessions yet; `mcpbx ask` begins one");
  else
    c.screen->out(table(rows));
  if (find_member(*got, "next")) c.screen->err_line("there may be more; --limit shows up to 1000");
  return done;
}

int show(context& c, daemon_connection& link, const sessions_options& o) {
  session_export all;
  int status = 0;
  for (auto from = raw_json::literal("0"); from;) {
    const auto page =
        call_or_explain(c, link, "mcpbx/sessions/get", json_object("session", o.id, "from", from), status);
    if (!page) return status;
    if (!all.head) {
      all.head = *page;
      for_each_element(find_member(*page, "runs"), [&](const raw_json& run) {
        all.runs.push_back(run);
        return true;
      });
    }
    for_each_element(find_member(*page, "messages"), [&](const raw_json& m) {
      all.messages.push_back(m);
      return true;
    });
    from = find_member(*page, "next");
  }
  if (c.json)
    c.screen->out_json(json_of(all));
  else if (o.format == "jsonl")
    c.screen->out_json(trimmed(json_lines_of(all)));
  else
    c.screen->out(markdown_of(all));
  return done;
}

int remove(context& c, daemon_connection& link, const std::string& id) {
  int status = 0;
  const auto got = call_or_explain(c, link, "mcpbx/sessions/delete", json_object("session", id), status);
  if (!got) return status;
  if (c.json) c.screen->out_json(got->text());
  return done;
}

// Returns a hint for a wrong action: the word for what other programs call otherwise, or the nearest one.
std::string near_action(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> others{{{"delete", "rm"},
                                                                                 {"del", "rm"},
                                                                                 {"remove", "rm"},
                                                                                 {"ls", "list"},
                                                                                 {"get", "show"},
                                                                                 {"cat", "show"},
                                                                                 {"export", "show"},
                                                                                 {"continue", "resume"}}};
  for (const auto& [other, ours] : others)
    if (word == other) return " (did you mean \"" + std::string(ours) + "\"?)";
  return did_you_mean(word, actions);
}

int wrong(context& c, const std::string& what) {
  c.screen->error(what + "; see `mcpbx sessions --help`");
  return usage;
}

int sessions(context& c, const sessions_options& o) {
  const std::string action = o.action.empty() ? "list" : o.action;
  if (std::ranges::find(actions, action) == actions.end())
    return wrong(c, "`sessions` knows no `" + action + "`" + near_action(action));
  if (action != "list" && o.id.empty()) return wrong(c, "`sessions " + action + "` needs the id of a session");
  if (action == "list" && !o.id.empty()) return wrong(c, "`sessions list` takes no id; `sessions show` does");
  if (action != "list" && o.all) return wrong(c, "--all is for `sessions list`");
  if (action != "resume" && (!o.question.text.empty() || o.question_options))
    return wrong(c, "a text and the options of `ask` are for `sessions resume`");
  if (!o.format.empty() && (action != "show" || (o.format != "markdown" && o.format != "jsonl")))
    return wrong(c, "--format is for `sessions show`, and is markdown or jsonl");
  if (action == "resume") {
    ask_options question = o.question;
    question.session = o.id;
    question.resumed = true;
    return ask(c, question);
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  if (action == "show") return show(c, made->link, o);
  if (action == "rm") return remove(c, made->link, o.id);
  return list(c, made->link, o.limit, o.all);
}

verb_action declare_sessions(CLI::App& page) {
  const auto o = std::make_shared<sessions_options>();
  page.add_option("ACTION", o->action, "list (also without a word), show, resume or rm")->type_name("");
  page.add_option("ID", o->id, "the session, as the list names it")->type_name("");
  add_words(page, "resume: what to say next; or - to read it, or its rest, from standard input", o->question);
  page.add_option("--format", o->format, "show: markdown or jsonl (markdown)")->type_name("FORMAT");
  page.add_flag("--all", o->all, "list: also what programs on the port and tool servers began");
  page.add_option("--limit", o->limit, "list: how many, the latest first (50)")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  auto* resumed = page.add_option_group("Options of resume");
  add_question_options(*resumed, o->question, " (that of the session)");
  return [o, resumed](context& c) {
    o->question_options = resumed->count_all() > 0;
    return sessions(c, *o);
  };
}

}  // namespace

verb verb_sessions() {
  return {
      .name = "sessions",
      .place = 6,
      .summary = "list, show, go on with or delete what was said",
      .more =
          R"(Every question belongs to a session; -c or -s ID of `ask` goes on with one, with its model unless -m names another, and,
unless -p names another profile, with its profile and with the tools and limits that its latest question asked for.

  list          your latest sessions; with --all also those that programs on the HTTP port and tool servers began;
                with --json one array
  show ID       all that was said, as Markdown or JSON lines; with --json one object
  resume ID     lets the model answer what a crash or an interruption left without an answer; with TEXT, says that;
                takes the options of `ask`
  rm ID         deletes it

Examples:
  mcpbx sessions
  mcpbx sessions show ses_0f3a52c1b7d94e68 > talk.md
  mcpbx sessions show ses_0f3a52c1b7d94e68 --format jsonl > talk.jsonl
  mcpbx sessions resume ses_0f3a52c1b7d94e68)",
      .declare = declare_sessions,
      .actions = actions};
}

}  // namespace mcpbx::cli
