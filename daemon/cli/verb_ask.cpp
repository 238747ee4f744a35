// `mcpbx ask`: one run, streamed.
#include "daemon/cli/approval.hpp"
#include "daemon/cli/attachments.hpp"
#include "daemon/cli/run_end.hpp"
#include "daemon/cli/usage_line.hpp"
#include "daemon/cli/verbs.hpp"
#include "mcp/support/text.hpp"

#include <string>
#include <string_view>

namespace mcpbx::cli {
namespace {

// How the daemon words the result of such a call.
constexpr std::string_view may_not_ask = "Not executed: this tool needs a yes of the user, and this run may not ask";

bool asks_person(bool json) {
  return !json && can_ask();
}

// `message`: the question with its files as one message, or "".
std::string build_params(const ask_options& o, const std::string& question, const std::string& message, bool json) {
  std::string p = "{\"stream\":" + std::string(o.no_stream ? "false" : "true");
  if (!message.empty())
    p += ",\"messages\":[" + message + "]";
  else if (!question.empty())
    p += ",\"input\":" + json_quoted(question);
  if (!o.session.empty()) p += ",\"session\":" + json_quoted(o.session);
  if (!o.model.empty()) p += ",\"model\":" + json_quoted(o.model);
  if (!o.profile.empty()) p += ",\"profile\":" + json_quoted(o.profile);
  if (!o.system.empty()) p += ",\"system\":" + json_quoted(o.system);
  if (!o.status.empty()) p += ",\"status\":" + json_quoted(o.status);
  // Where nobody can be asked, what needs a yes does not get one.
  p += ",\"approve\":" + json_quoted(!o.approve.empty() ? o.approve : asks_person(json) ? "ask" : "none");
  if (!o.tools.empty()) {
    p += ",\"tools\":[";
    for (std::size_t i = 0; i < o.tools.size(); ++i) p += (i > 0 ? "," : "") + json_quoted(o.tools[i]);
    p += "]";
  }
  if (o.max_rounds >= 0) p += ",\"limits\":{\"maxRounds\":" + std::to_string(o.max_rounds) + "}";
  return p + "}";
}

// Shows the events of one run as they come.
class viewer {
 public:
  viewer(context& c, bool show_text) : c_(c), show_text_(show_text) {}

  void event(const raw_json& params) {
    const std::string type = member_text(params, "type");
    if (c_.json) {
      c_.screen->out_line(params.text());
      return;
    }
    if (type == "text" && show_text_) {
      c_.screen->out(member_text(params, "text"));
      shown_ = true;
    } else if (type == "snapshot" && show_text_) {
      // This terminal was too slow: what it has shown of the round is void.
      if (shown_) c_.screen->finish_line();
      c_.screen->out(member_text(params, "text"));
      shown_ = true;
    } else if (type == "status") {
      // Why a run ended without an answer is printed once, at its end: not here, and not from the error event.
      if (const std::string text = member_text(params, "text"); !text.starts_with("Stopped: ")) c_.screen->status(text);
    } else if (type == "round" && shown_) {
      c_.screen->finish_line();
    } else if (type == "tool_call") {
      const auto arguments = find_member(params, "arguments");
      // Without arguments the call could not be read; the result says why.
      const bool unread = !arguments || arguments.text() == "null";
      std::string line = "-> " + member_text(params, "name") + " " +
                         (unread ? "(the call could not be read)" : std::string(cut_utf8(arguments.text(), 300)));
      c_.screen->err_line(c_.screen->dim(printable(line)));
    } else if (type == "tool_progress") {
      std::string line = member_text(params, "message");
      if (line.empty()) line = "progress " + std::string(find_member(params, "progress").text());
      c_.screen->status(line);
    } else if (type == "tool_result") {
      result_line(params);
    }
  }

  bool shown() const noexcept { return shown_; }
  /// Whether a call was not made because this run may ask nobody.
  bool missed_a_yes() const noexcept { return missed_a_yes_; }

 private:
  void result_line(const raw_json& params) {
    std::string first;
    for_each_element(find_member(params, "content"), [&](const raw_json& block) {
      first = member_text(block, "text");
      if (first.empty()) first = "[" + member_text(block, "type") + "]";
      return false;
    });
    missed_a_yes_ = missed_a_yes_ || first.starts_with(may_not_ask);
    std::string line = find_member(params, "isError").is_true() ? "<- error: " : "<- ";
    line += cut_utf8(first.substr(0, first.find('\n')), 200);
    line += " (" + std::string(find_member(params, "durationMs").text()) + " ms)";
    c_.screen->err_line(c_.screen->dim(printable(line)));
  }

  context& c_;
  bool show_text_;
  bool shown_ = false, missed_a_yes_ = false;
};

// An interrupt is left to call(), which cancels the run.
void answer_question(context& c, connection& link, const raw_json& event) {
  const auto said = ask_person(*c.screen, event);
  if (!said) return;
  std::string params = "{\"run\":" + json_quoted(member_text(event, "run")) +
                       ",\"question\":" + json_quoted(member_text(event, "question")) + ",\"approve\":";
  params += said->approve ? "true" : "false";
  if (said->always) params += ",\"always\":true";
  (void)link.request("mcpbx/answer", params + "}");
}

int finish(context& c, const raw_json& result, bool text_shown) {
  const std::string text = member_text(result, "text");
  c.screen->clear_status();
  if (!c.json) {
    if (text_shown) {
      c.screen->finish_line();
    } else if (!text.empty()) {
      c.screen->out(text);
      if (text.back() != '\n') c.screen->out("\n");
    }
  }
  if (const auto used = usage_line(result); !used.empty() && c.screen->err_is_terminal() && !c.json)
    c.screen->err_line(c.screen->dim(used));
  const auto end = end_of(result, interrupted());
  if (end.status == done && !end.why.empty())
    c.screen->err_line("mcpbx: " + printable(end.why, true));
  else if (!end.why.empty())
    c.screen->error(end.why);
  return end.status;
}

// Which session to go on with, and its model where none was named. False: `status` says how the verb ends.
bool find_session(context& c, connection& link, ask_options& o, int& status) {
  auto got = o.latest ? link.call("mcpbx/sessions/list", R"({"limit":1})")
                      : link.call("mcpbx/sessions/get", "{\"session\":" + json_quoted(o.session) + ",\"limit\":0}");
  if (!got) status = explain(c, got.error());
  if (got && got->error) status = explain(c, *got);
  if (!got || got->error) return false;
  raw_json found = got->result;
  if (o.latest) {
    found = {};
    for_each_element(find_member(got->result, "sessions"), [&](const raw_json& s) {
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

}  // namespace

int ask(context& c, const ask_options& given) {
  ask_options o = given;
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
  if (o.approve == "ask" && !asks_person(c.json)) {
    c.screen->error("--approve ask needs a terminal to ask at; write --approve all or --approve none");
    return usage;
  }
  std::string message;
  if (!o.files.empty()) {
    auto read = message_with_files(question, o.files);
    if (!read) {
      c.screen->error(read.error().message);
      return usage;
    }
    message = std::move(*read);
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  catch_interrupts();
  viewer view(c, c.screen->out_is_terminal() && !o.no_stream);
  connection& link = made->link;
  if ((o.latest || !o.session.empty()) && !find_session(c, link, o, status)) return status;
  auto answered = link.call(
      "mcpbx/chat", build_params(o, question, message, c.json),
      [&](std::string_view method, const raw_json& params) {
        if (method != "mcpbx/event") return;
        view.event(params);
        if (asks_person(c.json) && member_text(params, "type") == "question") answer_question(c, link, params);
      },
      [&](std::int64_t request) {
        (void)link.notify("notifications/cancelled", "{\"requestId\":" + std::to_string(request) + "}");
      });
  c.screen->clear_status();
  if (!answered) return explain(c, answered.error());
  if (answered->error) return interrupted() ? static_cast<int>(interrupted_exit) : explain(c, *answered);
  const int ended = finish(c, answered->result, view.shown());
  if (view.missed_a_yes() && o.approve.empty())
    c.screen->err_line(
        "mcpbx: a call needed your yes, and there is no terminal to ask at; `--approve all` makes such calls unasked");
  return ended;
}

}  // namespace mcpbx::cli
