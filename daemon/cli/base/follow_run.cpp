// Prints the events of a run as they come, and asks its questions.
#include "daemon/cli/base/follow_run.hpp"

#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/mcp_contents.hpp"
#include "daemon/cli/base/person_answers.hpp"
#include "daemon/cli/base/run_end.hpp"
#include "daemon/cli/input/client_tools.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "daemon/cli/terminal/markdown_text.hpp"
#include "daemon/cli/terminal/open_questions.hpp"
#include "daemon/cli/text/usage_line.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace mcpbx::cli {
namespace {

// Beginning of the daemon's result for a call that needs approval in a run that may not ask.
constexpr std::string_view may_not_ask = "Not executed: this tool needs a yes of the user, and this run may not ask";

constexpr std::size_t most_told = 300;  // bytes about blocks that are not shown

// Shows the events of one run as they come.
class viewer {
 public:
  viewer(context& c, bool show_text, bool input, bool markdown)
      : c_(c), show_text_(show_text), input_(input), markdown_(markdown) {}

  void event(const std::string& type, const json::raw_json& params) {
    seq_ = json::find_member(params, "seq").as_integer().value_or(seq_);
    if (c_.json) {
      c_.screen->out_json(params.text());
      return;
    }
    if (type == "text" && show_text_) return show(json::member_text(params, "text"));
    if (type == "usage" || type == "reasoning") return;
    // Lines of ours follow, so no character of the text may be kept back.
    c_.screen->out_styled(type == "round" || type == "snapshot" ? styler_.finish() : styler_.flush());
    if (type == "snapshot" && show_text_) {
      // This terminal was too slow for the events: the text that it showed of the round is void.
      if (shown_) c_.screen->finish_line();
      show(json::member_text(params, "text"));
    } else if (type == "status") {
      // The reason for an end without an answer is printed once, at the end; not here, and not for the error event.
      if (const std::string text = json::member_text(params, "text"); !text.starts_with("Stopped: "))
        c_.screen->status(text);
    } else if (type == "round" && shown_) {
      c_.screen->finish_line();
    } else if (type == "tool_call") {
      const auto arguments = json::find_member(params, "arguments");
      // A call without arguments could not be read; its result gives the reason.
      const bool unread = !arguments || arguments.text() == "null";
      std::string line = "-> " + json::member_text(params, "name") + " " +
                         (unread ? "(the call could not be read)" : terminals::beginning(arguments.text(), 300));
      c_.screen->err_line(c_.screen->dim(redact::printable(line)));
    } else if (type == "tool_progress") {
      std::string line = json::member_text(params, "message");
      if (line.empty()) line = "progress " + std::string(json::find_member(params, "progress").text());
      c_.screen->status(line);
    } else if (type == "tool_result") {
      result_line(params);
    } else if (type == "question" && !asks_person(c_) && json::member_text(params, "kind") == "input") {
      if (!input_)
        c_.screen->err_line("mcpbx: the tool server " + terminals::quoted_name(json::member_text(params, "server")) +
                            " asks for input; `mcpbx attach " +
                            redact::printable(run_operand(json::member_text(params, "run"))) +
                            "` at a terminal answers");
    } else if (type == "question" && !asks_person(c_)) {
      c_.screen->err_line("mcpbx: the call of " + terminals::quoted_name(json::member_text(params, "tool")) +
                          " waits for a yes; `mcpbx attach " +
                          redact::printable(run_operand(json::member_text(params, "run"))) +
                          "` at a terminal asks for it");
    }
  }

  /// Writes the rest of a text that ended without an event.
  void end() { c_.screen->out_styled(styler_.finish()); }
  bool shown() const noexcept { return shown_; }
  /// Returns true if a call was refused because it needs approval and this run may ask nobody.
  bool missed_a_yes() const noexcept { return missed_a_yes_; }
  std::int64_t seq() const noexcept { return seq_; }

 private:
  void show(const std::string& text) {
    if (text.empty()) return;
    if (markdown_)
      c_.screen->out_styled(styler_.feed(text));
    else
      c_.screen->out(text);
    shown_ = true;
  }

  void result_line(const json::raw_json& params) {
    std::string first, others;
    json::for_each_element(json::find_member(params, "content"), [&](const json::raw_json& block) {
      if (const auto text = json::member_text(block, "text"); !text.empty()) {
        if (first.empty()) first = text;
      } else if (others.size() < most_told) {
        others += (others.empty() ? "" : " ") + told_block(block);
      }
      return true;
    });
    missed_a_yes_ = missed_a_yes_ || first.starts_with(may_not_ask);
    std::string line = json::find_member(params, "isError").is_true() ? "<- error: " : "<- ";
    line += cut_utf8(first.substr(0, first.find('\n')), 200);
    if (!others.empty()) line += (first.empty() ? "" : " ") + others;
    line += " (" + std::string(json::find_member(params, "durationMs").text()) + " ms)";
    c_.screen->err_line(c_.screen->dim(redact::printable(line)));
  }

  context& c_;
  bool show_text_, input_, markdown_;
  terminals::markdown_text styler_;
  bool shown_ = false, missed_a_yes_ = false;
  std::int64_t seq_ = 0;
};

void line_out(context& c, std::string_view text) {
  c.screen->out(text);
  if (!text.ends_with('\n')) c.screen->out("\n");
}

// Prints the answer, or the calls for the caller, unless they were shown already.
void show_result(context& c, const json::raw_json& result, bool data_only, bool text_shown) {
  if (text_shown) c.screen->finish_line();
  const std::string text = text_shown ? "" : json::member_text(result, "text");
  const auto data = json::find_member(result, "data");
  if (const auto calls = input::handed_calls_of(result); !calls.empty()) {
    if (!text.empty()) c.screen->err_line(redact::printable(text, true));
    for (const auto& call : calls) c.screen->out_json(call);
  } else if (data && !text_shown) {
    c.screen->out_json(data.text());
  } else if (!data_only && !text.empty()) {
    line_out(c, text);
  }
}

// Returns the command for a run that ended without an answer.
std::string way_on(const json::raw_json& result, int status) {
  if (status == terminals::usage) return "`mcpbx doctor` tells more";
  const auto session = json::member_text(result, "session");
  if (status == terminals::provider_failed || session.empty())
    return std::string(terminals::command_for_status(status));
  return "`mcpbx sessions show " + shell_word(session) + "` shows the run";
}

int finish(context& c, const json::raw_json& result, bool data_only, bool text_shown) {
  c.screen->clear_status();
  if (!c.json) show_result(c, result, data_only, text_shown);
  if (const auto used = text::usage_line(result); !used.empty() && c.screen->err_is_terminal() && !c.json)
    c.screen->err_line(c.screen->dim(used));
  const auto end = end_of(result, link::interrupted());
  // With --json the event `done` has told the reason.
  if ((end.status == terminals::done || c.json) && !end.why.empty())
    c.screen->err_line("mcpbx: " + redact::printable(end.why, true));
  else if (!end.why.empty())
    c.screen->error(terminals::with_command(end.why, way_on(result, end.status)));
  return end.status;
}

}  // namespace

result<std::optional<terminals::input_mode>> chosen_input(const context& c, std::string_view word) {
  if (word.empty()) return asks_person(c) ? std::optional(terminals::input_mode::ask) : std::nullopt;
  const auto mode = terminals::input_mode_of(word);
  if (mode == terminals::input_mode::ask && !asks_person(c))
    return fail(errc::invalid_argument,
                "--input ask needs a terminal to ask at; write --input accept or --input decline");
  return mode;
}

void add_input_option(CLI::App& page, std::string& word) {
  page.add_option(
          "--input", word,
          "how questions of tool servers are answered: ask, accept (with the\nform's defaults) or decline (ask at "
          "a terminal, else decline)")
      ->type_name("WORD")
      ->check(CLI::IsMember({"ask", "accept", "decline"}).description(""));
}

bool asks_person(const context& c) {
  return !c.json && terminals::can_ask();
}

std::string run_operand(std::string_view run) {
  return (run.starts_with('-') ? "-- " : "") + shell_word(run);
}

followed follow_run(context& c, link::daemon_connection& link, std::string_view method, const std::string& params,
                    const follow_options& o) {
  link::catch_interrupts();
  viewer view(c, c.screen->out_is_terminal() && o.stream && !o.data_only, o.input.has_value(), o.markdown);
  terminals::open_questions questions(*c.screen, link, {.approvals = asks_person(c), .input = o.input});
  const bool asks = asks_person(c) || o.input;
  // Servers ask about a prompt or a resource before the run begins, and in its course by events.
  person_answers before(c, link, o.input.value_or(terminals::input_mode::decline));
  link.on_request([&](const mcp::rpc::message& request) { before.take(request); });
  const auto answered = link.call(
      method, params,
      [&](std::string_view name, const json::raw_json& event) {
        before.notified(name, event);
        if (name != "mcpbx/event") return;
        const auto type = json::member_text(event, "type");
        view.event(type, event);
        if (asks) questions.event(type, event);
      },
      [&](std::int64_t request) {
        (void)link.notify("notifications/cancelled", json::json_object("requestId", request));
      },
      asks ? link::daemon_connection::idle_handler([&] {
        before.answer();
        questions.ask();
      })
           : link::daemon_connection::idle_handler());
  link.on_request({});
  view.end();
  c.screen->clear_status();
  followed f{.missed_a_yes = view.missed_a_yes(), .session = {}, .result = {}, .seq = view.seq()};
  if (!answered) {
    f.status = explain(c, answered.error());
    f.left = answered.error().code == errc::cancelled;
    f.lost = true;
  } else if (answered->error) {
    f.left = link::interrupted();
    f.status = f.left ? static_cast<int>(terminals::interrupted_exit) : explain(c, *answered);
  } else {
    f.session = json::member_text(answered->result, "session");
    f.result = answered->result;
    f.status = finish(c, answered->result, o.data_only, view.shown());
  }
  return f;
}

}  // namespace mcpbx::cli
