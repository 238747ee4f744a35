// `mcpbx pins`, `pins show`, `pins accept`.
#include "daemon/cli/verbs.hpp"
#include "mcp/support/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {
namespace {

// As it can be typed: the name it is offered under, else SERVER__TOOL.
std::string name_of(const raw_json& row) {
  const std::string name = member_text(row, "name");
  return name.empty() ? member_text(row, "server") + "__" + member_text(row, "tool") : name;
}

result<raw_json> ask(context& c, std::string_view method, const std::string& params, int& status) {
  auto made = connect_or_explain(c, true, status);
  if (!made) return std::unexpected(made.error());
  return call_or_explain(c, made->link, method, params, status);
}

// Whether there is anything to look at; says so otherwise.
int problem_of(context& c, const raw_json& report) {
  const std::string problem = member_text(report, "problem");
  if (problem.empty()) return done;
  c.screen->error(problem);
  return no_answer;
}

std::string standing(const raw_json& row) {
  std::string text = member_text(row, "state");
  if (find_member(row, "withheld").is_true()) text += ", not offered";
  return text;
}

// A member as people read it: texts as they are, the rest as JSON.
std::string shown(const raw_json& value) {
  return value.as_string().value_or(std::string(value.text()));
}

void show_side(context& c, std::string_view sign, const raw_json& value) {
  if (value) c.screen->out("  " + std::string(sign) + " " + shown(value) + "\n");
}

void show_definitions(context& c, const raw_json& row) {
  const raw_json was = find_member(row, "pinned"), now = find_member(row, "listed");
  for (const std::string_view key : {"name", "description", "annotations", "inputSchema", "outputSchema"}) {
    const raw_json before = find_member(was, key), after = find_member(now, key);
    if (before.text() == after.text()) {
      if (before) c.screen->out("  " + std::string(key) + "\n    " + shown(before) + "\n");
      continue;
    }
    c.screen->out("  " + std::string(key) + "\n");
    if (was) show_side(c, "-", before);
    if (now) show_side(c, "+", after);
  }
}

void show_row(context& c, const raw_json& row) {
  c.screen->out_line(c.screen->bold(printable(name_of(row))) + ": " + standing(row) +
                     " (pin: " + member_text(row, "pin") + ")");
  const std::string pinned = member_text(row, "pinnedSha256"), now = member_text(row, "sha256");
  if (!pinned.empty()) c.screen->out_line("  pinned " + member_text(row, "pinnedAt") + ", sha256 " + pinned);
  if (!now.empty() && now != pinned) c.screen->out_line("  now sha256 " + now);
  if (find_member(row, "originOnly").is_true())
    c.screen->out_line(
        "  the definition is the same; the command, arguments, environment or address of its server is another one");
  if (!pinned.empty() && !find_member(row, "pinned"))
    c.screen->out_line("  what was pinned is too long to be kept; its hash is all there is");
  show_definitions(c, row);
}

}  // namespace

int pins(context& c) {
  int status = 0;
  const auto report = ask(c, "mcpbx/pins/list", "{}", status);
  if (!report) return status;
  const raw_json list = find_member(*report, "pins");
  if (c.json) {
    c.screen->out_line(list.text());
    return problem_of(c, *report);
  }
  std::vector<std::vector<std::string>> rows{{"SERVER", "TOOL", "STATE", "PINNED"}};
  for_each_element(list, [&](const raw_json& row) {
    rows.push_back({member_text(row, "server"), member_text(row, "tool"), standing(row), member_text(row, "pinnedAt")});
    return true;
  });
  if (rows.size() > 1)
    c.screen->out(table(rows));
  else if (member_text(*report, "problem").empty())
    c.screen->err_line(
        "nothing is pinned; tools are when their server is first seen, unless its entry says \"pin\": "
        "\"off\"");
  return problem_of(c, *report);
}

int show_pins(context& c, const std::string& name) {
  int status = 0;
  const auto report = ask(c, "mcpbx/pins/list", "{\"definitions\":true,\"name\":" + json_quoted(name) + "}", status);
  if (!report) return status;
  const raw_json list = find_member(*report, "pins");
  if (c.json) {
    c.screen->out_line(list.text());
    return problem_of(c, *report);
  }
  // Of a whole server, what is as it was pinned needs no look.
  std::size_t all = 0, told = 0;
  for_each_element(list, [&](const raw_json&) { return ++all, true; });
  for_each_element(list, [&](const raw_json& row) {
    if (all > 1 && member_text(row, "state") == "ok") return true;
    if (told++ > 0) c.screen->out("\n");
    show_row(c, row);
    return true;
  });
  if (told == 0 && all > 0) c.screen->err_line("all " + std::to_string(all) + " tools are as they were pinned");
  return problem_of(c, *report);
}

int accept_pins(context& c, const std::string& name, const std::string& sha256) {
  int status = 0;
  std::string params = "{\"name\":" + json_quoted(name);
  if (!sha256.empty()) params += ",\"sha256\":" + json_quoted(sha256);
  const auto done_now = ask(c, "mcpbx/pins/accept", params + "}", status);
  if (!done_now) return status;
  if (c.json) {
    c.screen->out_line(done_now->text());
    return done;
  }
  const std::string count(find_member(*done_now, "accepted").text());
  c.screen->err_line(count == "0" ? "everything was as pinned already"
                                  : "approved " + count + (count == "1" ? " tool" : " tools"));
  return done;
}

}  // namespace mcpbx::cli
