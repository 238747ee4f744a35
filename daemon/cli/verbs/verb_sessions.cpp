// `mcpbx sessions`: lists, shows, resumes and removes stored conversations.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/session_pages.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "daemon/cli/text/session_text.hpp"
#include "daemon/cli/verbs/verb_ask.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/search/word_match.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::array<std::string_view, 5> actions{"list", "show", "find", "resume", "rm"};

struct sessions_options {
  std::string action, id;
  ask_options question;           ///< for resume; its text may be empty
  bool question_options = false;  ///< some option of `question` was given
  std::string format;             ///< for show: markdown or jsonl
  int limit = 50;                 ///< for list: largest number of sessions
  bool all = false;               ///< for list: include sessions of other doors
};

int list(context& c, link::daemon_connection& link, int limit, bool all_of_them) {
  int status = 0;
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("limit", limit).set("all", all_of_them).end_object();
  const auto got = call_or_explain(c, link, "mcpbx/sessions/list", params, status);
  if (!got) return status;
  const auto all = json::find_member(*got, "sessions");
  if (c.json) {
    c.screen->out_json(all.text());
    return terminals::done;
  }
  std::vector<std::vector<std::string>> rows{{"SESSION", "LAST USED (UTC)", "RUNS", "MODEL", "TITLE"}};
  if (all_of_them) rows[0].insert(rows[0].begin() + 1, "BEGUN BY");
  json::for_each_element(all, [&](const json::raw_json& s) {
    rows.push_back({json::member_text(s, "session"),
                    text::date_of(json::find_member(s, "usedMs").as_integer().value_or(0)),
                    std::string(json::find_member(s, "runCount").text()), json::member_text(s, "model"),
                    json::member_text(s, "title") + (json::find_member(s, "running") ? " (going on)" : "")});
    if (all_of_them) rows.back().insert(rows.back().begin() + 1, json::member_text(s, "principal"));
    return true;
  });
  if (rows.size() == 1)
    c.screen->err_line("no sessions yet; `mcpbx ask` begins one");
  else
    c.screen->out(terminals::table(rows));
  if (json::find_member(*got, "next")) c.screen->err_line("there may be more; --limit shows up to 1000");
  return terminals::done;
}

int show(context& c, link::daemon_connection& link, const sessions_options& o) {
  int status = 0;
  const auto all = read_session(c, link, o.id, false, status);
  if (!all) return status;
  if (c.json)
    c.screen->out_json(text::json_of(*all));
  else if (o.format == "jsonl")
    c.screen->out_json(trimmed(text::json_lines_of(*all)));
  else
    c.screen->out(text::markdown_of(*all));
  return terminals::done;
}

// Prints the runs in which all words were said in one message, with the line that has most of them.
int find(context& c, link::daemon_connection& link, const std::string& words, const sessions_options& o) {
  int status = 0;
  std::string params;
  json::json_writer(params)
      .begin_object()
      .member("words", words)
      .member("limit", o.limit)
      .set("all", o.all)
      .end_object();
  const auto got = call_or_explain(c, link, "mcpbx/sessions/find", params, status);
  if (!got) return status;
  const auto found = json::find_member(*got, "found");
  const bool complete = json::find_member(*got, "complete").is_true();
  std::size_t count = 0;
  if (c.json) c.screen->out_json(found.text());
  json::for_each_element(found, [&](const json::raw_json& one) {
    ++count;
    if (c.json) return true;
    c.screen->out_line(
        terminals::terminal::bold(json::member_text(one, "session")) +
        terminals::terminal::dim("  " + text::date_of(json::find_member(one, "startedMs").as_integer().value_or(0)) +
                                 " UTC  " + json::member_text(one, "role")));
    c.screen->out_line("  " + text::marked(json::member_text(one, "line"), search::word_search(words)));
    return true;
  });
  if (count == 0 && complete && !c.json)
    c.screen->err_line("no session has all of these words in one message; `mcpbx sessions` lists the sessions");
  if (!complete)
    c.screen->err_line("mcpbx: looked back to " +
                       text::date_of(json::find_member(*got, "reachedMs").as_integer().value_or(0)) +
                       " UTC; --limit N shows more, and more words find fewer");
  return terminals::done;
}

int remove(context& c, link::daemon_connection& link, const std::string& id) {
  int status = 0;
  const auto got = call_or_explain(c, link, "mcpbx/sessions/delete", json::json_object("session", id), status);
  if (!got) return status;
  if (c.json) c.screen->out_json(got->text());
  return terminals::done;
}

// Returns a hint for a wrong action: the word for what other programs call otherwise, or the nearest one.
std::string near_action(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> others{{{"delete", "rm"},
                                                                                 {"del", "rm"},
                                                                                 {"remove", "rm"},
                                                                                 {"ls", "list"},
                                                                                 {"get", "show"},
                                                                                 {"cat", "show"},
                                                                                 {"search", "find"},
                                                                                 {"grep", "find"},
                                                                                 {"continue", "resume"}}};
  if (word == "export") return " (did you mean `mcpbx export`?)";
  for (const auto& [other, ours] : others)
    if (word == other) return " (did you mean \"" + std::string(ours) + "\"?)";
  return did_you_mean(word, actions);
}

int wrong(context& c, const std::string& what) {
  c.screen->error(what + "; see `mcpbx sessions --help`");
  return terminals::usage;
}

int sessions(context& c, const sessions_options& o) {
  const std::string action = o.action.empty() ? "list" : o.action;
  const bool finds = action == "find";
  if (std::ranges::find(actions, action) == actions.end())
    return wrong(c, "`sessions` knows no `" + action + "`" + near_action(action));
  if (action != "list" && o.id.empty())
    return wrong(c, "`sessions " + action + "` needs " + (finds ? "words" : "the id of a session"));
  if (action == "list" && !o.id.empty()) return wrong(c, "`sessions list` takes no id; `sessions show` does");
  if (action != "list" && !finds && o.all) return wrong(c, "--all is for `sessions list` and `sessions find`");
  if (action != "resume" && ((!finds && !o.question.text.empty()) || o.question_options))
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
  if (finds) return find(c, made->link, o.id + " " + o.question.text, o);
  if (action == "rm") return remove(c, made->link, o.id);
  return list(c, made->link, o.limit, o.all);
}

verb_action declare_sessions(CLI::App& page) {
  const auto o = std::make_shared<sessions_options>();
  page.add_option("ACTION", o->action, "list (also without a word), show, find, resume or rm")->type_name("");
  page.add_option("ID", o->id, "the session, as the list names it; find: words")->type_name("");
  add_words(page, "resume: what to say next; or - to read it, or its rest, from standard input; find: more words",
            o->question);
  page.add_option("--format", o->format, "show: markdown or jsonl (markdown)")->type_name("FORMAT");
  page.add_flag("--all", o->all, "list, find: also what programs on the port and tool servers began");
  page.add_option("--limit", o->limit, "list, find: how many, the latest first (50)")
      ->type_name("N")
      ->check(input::whole_number(1, 1000));
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
  find WORDS    looks for messages that have all these words, in any case: questions, answers and results of tools
                or for the runs of one trace, by its whole id
  resume ID     lets the model answer what a crash or an interruption left without an answer; with TEXT, says that;
                takes the options of `ask`
  rm ID         deletes it

`mcpbx export` writes sessions to files, without configured secrets.

Examples:
  mcpbx sessions
  mcpbx sessions show ses_0f3a52c1b7d94e68 > talk.md
  mcpbx sessions find lisbon hotel
  mcpbx sessions show ses_0f3a52c1b7d94e68 --format jsonl > talk.jsonl
  mcpbx sessions resume ses_0f3a52c1b7d94e68)",
      .declare = declare_sessions,
      .actions = actions};
}

}  // namespace mcpbx::cli::verbs
