// `mcpbx ask`: one run, followed, or begun and left to itself.
#include "daemon/cli/attachments.hpp"
#include "daemon/cli/client_tools.hpp"
#include "daemon/cli/follow_run.hpp"
#include "daemon/cli/input_files.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/verbs.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::cli {
namespace {

// What the options and their files come to as members of the request.
struct parts {
  std::string message;  ///< the question with its files as one message, or ""
  std::string schema, client_tools;
};

result<parts> read_parts(const ask_options& o, const std::string& question) {
  parts p;
  if (!o.files.empty()) {
    auto message = message_with_files(question, o.files);
    if (!message) return std::unexpected(message.error());
    p.message = std::move(*message);
  }
  if (!o.schema.empty()) {
    const auto schema = json_or_file(o.schema, "--schema");
    if (!schema) return std::unexpected(schema.error());
    if (!schema->is_object())
      return fail(errc::invalid_argument, R"(--schema: expected a JSON Schema, such as {"type":"object"})");
    p.schema = one_line(*schema);
  }
  if (!o.client_tools.empty()) {
    const auto definitions = read_json(o.client_tools, "--client-tools");
    if (!definitions) return std::unexpected(definitions.error());
    auto line = client_tools_of(*definitions);
    if (!line) return std::unexpected(line.error());
    p.client_tools = std::move(*line);
  }
  return p;
}

// Where nobody can be asked, what needs a yes does not get one. A detached run asks whoever attaches to it.
std::string_view usual_approval(const context& c, const ask_options& o) {
  return o.detach || asks_person(c) ? "ask" : "none";
}

std::string build_params(const context& c, const ask_options& o, const std::string& question, const parts& more) {
  std::string p = "{\"stream\":" + std::string(o.no_stream ? "false" : "true");
  if (!o.run.empty()) p += ",\"run\":" + json_quoted(o.run);
  if (o.detach) p += ",\"detach\":true";
  if (!more.message.empty())
    p += ",\"messages\":[" + more.message + "]";
  else if (!question.empty())
    p += ",\"input\":" + json_quoted(question);
  if (!o.session.empty()) p += ",\"session\":" + json_quoted(o.session);
  if (!o.model.empty()) p += ",\"model\":" + json_quoted(o.model);
  if (!o.profile.empty()) p += ",\"profile\":" + json_quoted(o.profile);
  if (!o.system.empty()) p += ",\"system\":" + json_quoted(o.system);
  if (!o.status.empty()) p += ",\"status\":" + json_quoted(o.status);
  p += ",\"approve\":" + json_quoted(o.approve.empty() ? usual_approval(c, o) : o.approve);
  if (!more.schema.empty()) p += R"(,"responseFormat":{"type":"json_schema","schema":)" + more.schema + "}";
  if (!more.client_tools.empty()) p += ",\"clientTools\":" + more.client_tools;
  if (!o.tools.empty()) {
    p += ",\"tools\":[";
    for (std::size_t i = 0; i < o.tools.size(); ++i) p += (i > 0 ? "," : "") + json_quoted(o.tools[i]);
    p += "]";
  }
  if (o.max_rounds >= 0) p += ",\"limits\":{\"maxRounds\":" + std::to_string(o.max_rounds) + "}";
  return p + "}";
}

// Which session to go on with, and its model where none was named. False: `status` says how the verb ends.
bool find_session(context& c, connection& link, ask_options& o, int& status) {
  const auto got = o.latest ? call_or_explain(c, link, "mcpbx/sessions/list", R"({"limit":1})", status)
                            : call_or_explain(c, link, "mcpbx/sessions/get",
                                              "{\"session\":" + json_quoted(o.session) + ",\"limit\":0}", status);
  if (!got) return false;
  raw_json found = *got;
  if (o.latest) {
    found = {};
    for_each_element(find_member(*got, "sessions"), [&](const raw_json& s) {
      found = s;
      return false;
    });
    if (!found) {
      c.screen->error("there is no session to go on with yet; `mcpbx ask` without -c begins one");
      status = no_such;
      return false;
    }
  }
  o.session = member_text(found, "session");
  if (o.model.empty()) o.model = member_text(found, "model");
  return true;
}

// What does not go together, as one sentence; "" when all does.
std::string contradiction(const context& c, const ask_options& o) {
  if (o.approve == "ask" && !o.detach && !asks_person(c))
    return "--approve ask needs a terminal to ask at; write --approve all or --approve none";
  if (o.detach && c.place.standalone)
    return "a detached run needs a daemon that stays; leave out --standalone or --detach";
  if (o.results.empty()) return {};
  if (o.run.empty()) return "--results needs the run that waits for them; write --run NAME";
  const bool more = !o.text.empty() || !o.session.empty() || o.latest || !o.model.empty() || !o.profile.empty() ||
                    !o.system.empty() || !o.status.empty() || !o.approve.empty() || !o.tools.empty() ||
                    !o.files.empty() || o.max_rounds >= 0 || o.detach || !o.schema.empty() || !o.client_tools.empty();
  return more ? "with --results a run goes on as it was begun; leave out all but --run and --no-stream" : "";
}

// The run that handed calls to its caller goes on.
int go_on(context& c, const ask_options& o) {
  const auto given = read_json(o.results, "--results");
  const auto message = given ? results_message(*given) : std::unexpected(given.error());
  if (!message) {
    c.screen->error(message.error().message);
    return usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const std::string params = "{\"run\":" + json_quoted(o.run) + ",\"stream\":" + (o.no_stream ? "false" : "true") +
                             ",\"messages\":[" + *message + "]}";
  return follow_run(c, made->link, "mcpbx/chat", params, {.stream = !o.no_stream}).status;
}

// The answer comes as soon as the start is recorded.
int start_detached(context& c, connection& link, const std::string& params) {
  const auto begun = link.call("mcpbx/chat", params, {}, [&](std::int64_t request) {
    (void)link.notify("notifications/cancelled", "{\"requestId\":" + std::to_string(request) + "}");
  });
  if (!begun) return explain(c, begun.error());
  if (begun->error) return interrupted() ? static_cast<int>(interrupted_exit) : explain(c, *begun);
  if (c.json) {
    c.screen->out_json(begun->result.text());
    return done;
  }
  const auto run = member_text(begun->result, "run");
  c.screen->out(run + "\n");
  const auto word = run_operand(run);
  c.screen->err_line("mcpbx: the run goes on by itself; `mcpbx attach " + word + "` follows it, `mcpbx cancel " + word +
                     "` ends it");
  return done;
}

}  // namespace

int ask(context& c, const ask_options& given) {
  ask_options o = given;
  if (const auto wrong = contradiction(c, o); !wrong.empty()) {
    c.screen->error(wrong);
    return usage;
  }
  if (!o.results.empty()) return go_on(c, o);
  std::string question = o.text;
  if (question == "-") {
    auto in = read_stdin();
    if (!in) return explain(c, in.error());
    question = std::move(*in);
  }
  if (question.find_first_not_of(" \t\r\n") == std::string::npos && !(o.resumed && o.text.empty())) {
    c.screen->error("there is no question; write it behind `ask`, or `-` to read it from standard input");
    return usage;
  }
  const auto read = read_parts(o, question);
  if (!read) {
    c.screen->error(read.error().message);
    return usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  catch_interrupts();
  if ((o.latest || !o.session.empty()) && !find_session(c, made->link, o, status)) return status;
  const std::string params = build_params(c, o, question, *read);
  if (o.detach) return start_detached(c, made->link, params);
  const auto end =
      follow_run(c, made->link, "mcpbx/chat", params, {.stream = !o.no_stream, .data_only = !o.schema.empty()});
  if (end.missed_a_yes && o.approve.empty())
    c.screen->err_line(
        "mcpbx: a call needed your yes, and there is no terminal to ask at; `--approve all` makes such calls unasked");
  return end.status;
}

}  // namespace mcpbx::cli
