// `mcpbx sessions`: list, show, resume, rm.
#include "daemon/cli/terminal/session_text.hpp"
#include "daemon/cli/verbs.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {
namespace {

constexpr std::array<std::string_view, 4> actions{"list", "show", "resume", "rm"};

int list(context& c, connection& link, int limit, bool all_of_them) {
  int status = 0;
  const auto got =
      call_or_explain(c, link, "mcpbx/sessions/list",
                      "{\"limit\":" + std::to_string(limit) + (all_of_them ? ",\"all\":true}" : "}"), status);
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

int show(context& c, connection& link, const sessions_options& o) {
  session_export all;
  int status = 0;
  for (std::string from = "0"; !from.empty();) {
    const auto page = call_or_explain(c, link, "mcpbx/sessions/get",
                                      "{\"session\":" + json_quoted(o.id) + ",\"from\":" + from + "}", status);
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
    const auto next = find_member(*page, "next");
    from = next ? std::string(next.text()) : "";
  }
  if (c.json)
    c.screen->out_json(json_of(all));
  else if (o.format == "jsonl")
    c.screen->out_json(trimmed(json_lines_of(all)));
  else
    c.screen->out(markdown_of(all));
  return done;
}

int remove(context& c, connection& link, const std::string& id) {
  int status = 0;
  const auto got = call_or_explain(c, link, "mcpbx/sessions/delete", "{\"session\":" + json_quoted(id) + "}", status);
  if (!got) return status;
  if (c.json) c.screen->out_json(got->text());
  return done;
}

int wrong(context& c, const std::string& what) {
  c.screen->error(what + "; see `mcpbx sessions --help`");
  return usage;
}

}  // namespace

int sessions(context& c, const sessions_options& o) {
  const std::string action = o.action.empty() ? "list" : o.action;
  if (std::ranges::find(actions, action) == actions.end())
    return wrong(c, "`sessions` knows no `" + action + "`" + did_you_mean(action, actions));
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

}  // namespace mcpbx::cli
