// One turn at a time: an input, its actions, and the run that one of them may begin.
#include "daemon/cli/chat/chat_shell.hpp"

#include "daemon/cli/base/caller_trace.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/follow_run.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/session_choice.hpp"
#include "daemon/cli/chat/line_editor.hpp"
#include "daemon/cli/chat/line_history.hpp"
#include "daemon/cli/chat/piped_lines.hpp"
#include "daemon/cli/chat/typed_lines.hpp"
#include "daemon/cli/input/attachments.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/text/tool_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>

namespace mcpbx::cli::chat {
namespace {

constexpr std::size_t messages_at_once = 200;  // while the last turn is looked for

std::string new_run_name() {
  std::random_device random;
  return "chat_" + hex(static_cast<std::uint64_t>(random()) << 32 | random(), 16);
}

// Returns the path that a person typed, perhaps with `~/` or in a shell's quotes.
std::string path_of(std::string_view typed) {
  for (const char quote : {'"', '\''})
    if (typed.size() > 1 && typed.front() == quote && typed.back() == quote)
      return std::string(typed.substr(1, typed.size() - 2));
  const char* home = std::getenv("HOME");
  if (home != nullptr && typed.starts_with("~/")) return home + std::string(typed.substr(1));
  return std::string(typed);
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Returns the tools that have all of the words in name or description.
std::string tools_with(const json::raw_json& list, const std::vector<std::string>& words) {
  std::string json;
  json::json_writer w(json);
  w.begin_array();
  json::for_each_element(list, [&](const json::raw_json& tool) {
    const auto text = lower_case(json::member_text(tool, "name") + " " + json::member_text(tool, "description"));
    if (std::ranges::all_of(words, [&](const auto& word) { return text.contains(lower_case(word)); })) w.value(tool);
    return true;
  });
  w.end_array();
  return json;
}

class chat_shell {
 public:
  chat_shell(context& c, const chat_options& o) : c_(c), at_terminal_(asks_person(c)), talk_(o.terms, "") {}

  int begin(const chat_options& o) {
    link::catch_interrupts();
    if (!connect()) return status_;
    std::string id = o.session;
    if (o.latest) id = session_of_place(made_->link);
    if (o.latest && id.empty())
      tell("nothing was said yet at this terminal or in this folder, so this begins a session");
    if (!id.empty() && !find_session(id)) return status_;
    return terminals::done;
  }

  int run() {
    c_.screen->helped_by("/help lists the commands");
    if (!at_terminal_) return run_pipe();
    line_editor editor(*c_.screen, conversation::commands());
    const auto history = line_history::of_user();
    for (const auto& input : history.read()) editor.remember(input);
    tell("/help lists the commands, Ctrl-D ends");
    while (!over_) {
      const auto line = editor.read(lines_.open() ? ". " : "> ");
      if (!line && line.error() == terminals::unanswered::interrupted) {
        c_.screen->err_line("^C");
        (void)lines_.take();
        if (!settle_interrupts()) return terminals::interrupted_exit;
        continue;
      }
      if (!line) over_ = true;
      if (!line) c_.screen->err_line("");
      if (line ? !lines_.add(*line) : !lines_.open()) continue;
      const bool cut = lines_.too_long();
      const auto input = lines_.take();
      if (may_be_kept(input)) {
        editor.remember(input);
        history.add(input);
      }
      take(input, cut);
      if (!settle_interrupts()) return terminals::interrupted_exit;
    }
    return terminals::done;
  }

 private:
  // Takes each line, or block of lines, of a pipe for an input.
  int run_pipe() {
    piped_lines in;
    while (!over_) {
      const auto line = in.next();
      if (!line && line.error() == terminals::unanswered::interrupted) return terminals::interrupted_exit;
      if (!line) over_ = true;
      if (line ? !lines_.add(*line) : !lines_.open()) continue;
      const bool cut = lines_.too_long();
      take(lines_.take(), cut);
      if (link::interrupted()) return terminals::interrupted_exit;
    }
    return status_;
  }

  // Forgets Ctrl-C, which has ended a turn. Returns false if the program was asked to end.
  static bool settle_interrupts() {
    while (link::forget_interrupt()) {
    }
    return !link::interrupted();
  }

  void take(const std::string& input, bool cut) {
    if (cut) return fail_with("this input is longer than 16 MiB; send less of it", terminals::usage);
    for (const auto& a : talk_.input(input)) std::visit([this](const auto& one) { act(one); }, a);
  }

  void tell(const std::string& text) {
    for (auto& line : terminals::wrapped(redact::printable(text, true), at_terminal_ ? c_.screen->err_width() : 0))
      c_.screen->err_line(at_terminal_ || c_.json ? terminals::terminal::dim(std::move(line))
                                                  : terminals::styled(std::move(line)));
  }
  void fail_with(const std::string& text, int status) {
    c_.screen->error(text);
    note(status);
  }
  void note(int status) {
    if (status_ == terminals::done) status_ = status;
  }

  // Connects if there is no connection, or only one that the daemon has closed. Says why not.
  bool connect() {
    if (made_ && !alive()) made_.reset();
    if (made_) return true;
    int status = terminals::done;
    auto made = connect_or_explain(c_, true, status);
    if (!made) {
      note(status);
      return false;
    }
    made_.emplace(std::move(*made));
    wait_for_servers(c_, *made_);
    if (const auto run = talk_.unresolved(); !run.empty()) settle(run);
    return made_.has_value();
  }

  bool alive() {
    pollfd one{made_->link.fd(), POLLIN, 0};
    while (::poll(&one, 1, 0) > 0)
      if (!made_->link.receive()) return false;
    return true;
  }

  // Finds out how a run ended whose connection was lost.
  void settle(const std::string& run) {
    const auto got = made_->link.call("mcpbx/attach", json::json_object("run", run, "stream", false));
    if (!got) return made_.reset();
    talk_.resolved(got->result);
    const auto reason = json::member_text(got->result, "stopReason");
    if (reason == "final")
      c_.screen->out(json::member_text(got->result, "text") + "\n");
    else if (!reason.empty())
      tell("the question before was not answered (" + reason + ")");
  }

  std::optional<json::raw_json> call(std::string_view method, const std::string& params) {
    if (!connect()) return std::nullopt;
    int status = terminals::done;
    const auto got = call_or_explain(c_, made_->link, method, params, status);
    if (got) return *got;
    note(status);
    return std::nullopt;
  }

  void act(const say& a) {
    if (a.wrong) return fail_with(a.text, terminals::usage);
    tell(a.text);
  }

  void act(const ask& a) {
    if (!connect()) return;
    const auto message = input::message_with_files(a.text, "", a.files);
    if (!message) return fail_with(message.error().message, terminals::usage);
    const auto run = new_run_name();
    const auto end =
        follow_run(c_, made_->link, "mcpbx/chat", talk_.params(run, *message, at_terminal_, caller_trace()),
                   {.input = chosen_input(c_, "").value_or(std::nullopt), .markdown = true});
    if (end.left && at_terminal_) tell("cancelled");
    if (end.status == terminals::interrupted_exit && !end.left && at_terminal_) tell("cancelled");
    if (end.lost) {
      made_.reset();
      if (!end.left) tell("the next input connects again, and the conversation goes on");
    }
    talk_.turn_ended({.run = run, .begun = end.lost || end.result, .result = end.result});
    note_session(end.session);
    note(end.status);
  }

  void act(const list_tools& a) {
    std::string params;
    json::json_writer w(params);
    w.begin_object().end_object();
    const auto got = call("mcpbx/tools", params);
    if (!got) return;
    const auto list = json::raw_json::own(tools_with(json::find_member(*got, "tools"), a.words));
    const auto lines = text::tool_lines(list, std::max<std::size_t>(c_.screen->err_width(), 40), c_.screen->cut_mark());
    for (const auto& line : lines) c_.screen->err_line(line);
    if (lines.empty())
      tell(a.words.empty() ? "there are no tools; `mcpbx servers` tells how the tool servers are"
                           : "no tool has all of these words");
  }

  void act(const list_models&) {
    const auto got = call("mcpbx/models", "{}");
    if (!got) return;
    json::for_each_element(*got, [&](const json::raw_json& row) {
      const auto name = json::member_text(row, "name"), problem = json::member_text(row, "problem");
      const auto& mine = talk_.terms().model;
      const bool used = mine.empty() ? json::find_member(row, "default").is_true() : mine == name;
      c_.screen->err_line(
          (used ? terminals::styled(terminals::look::bold, "* " + name) : terminals::styled("  " + name)) +
          terminals::terminal::dim("  " + json::member_text(row, "model")) +
          (problem.empty() ? terminals::styled() : terminals::styled(terminals::look::red, "  " + problem)));
      return true;
    });
  }

  void act(const find_model& a) {
    // An entry may be given with another model id behind a slash, and a profile stands for its model.
    if (!a.name.starts_with("profile:") &&
        !call("mcpbx/models", json::json_object("model", a.name.substr(0, a.name.find('/')))))
      return;
    act(talk_.use_model(a.name));
  }

  void act(const find_session& a) { (void)find_session(a.id); }

  bool find_session(const std::string& id) {
    const auto got = call("mcpbx/sessions/get", json::json_object("session", id, "limit", 0));
    if (!got) return false;
    const auto title = json::member_text(*got, "title");
    auto said = talk_.use_session(json::member_text(*got, "session"),
                                  talk_.terms().model.empty() ? json::member_text(*got, "model") : "");
    if (!title.empty()) said.text += " (" + title + ")";
    act(said);
    note_session(talk_.session());
    return true;
  }

  void act(const find_last_turn& a) {
    const auto head = call("mcpbx/sessions/get", json::json_object("session", a.session, "limit", 0));
    if (!head) return;
    const auto total = static_cast<std::size_t>(json::find_member(*head, "total").as_integer().value_or(0));
    std::vector<std::size_t> starts;
    json::for_each_element(
        json::find_member(*head, "runs"), [&, at = std::size_t{0}](const json::raw_json& run) mutable {
          starts.push_back(at);
          at += static_cast<std::size_t>(json::find_member(run, "messages").as_integer().value_or(0));
          return true;
        });
    const auto keep = std::min(a.keep.value_or(total), total);
    std::vector<std::string> roles, texts;
    for (auto from = keep; from > 0;) {
      const auto end = from;
      from -= std::min(from, messages_at_once);
      std::vector<std::string> page_roles, page_texts;
      for (auto at = from; at < end;) {
        const auto page =
            call("mcpbx/sessions/get", json::json_object("session", a.session, "from", at, "limit", end - at));
        if (!page) return;
        std::size_t count = 0;
        json::for_each_element(json::find_member(*page, "messages"), [&](const json::raw_json& m) {
          page_roles.push_back(json::member_text(m, "role"));
          page_texts.push_back(page_roles.back() == "user" ? user_text(m) : "");
          ++count;
          return true;
        });
        if (count == 0) return fail_with("the session has changed meanwhile; try again", terminals::no_answer);
        at += count;
      }
      roles.insert(roles.begin(), page_roles.begin(), page_roles.end());
      texts.insert(texts.begin(), page_texts.begin(), page_texts.end());
      std::vector<std::size_t> near;
      for (const auto start : starts)
        if (start >= from) near.push_back(start - from);
      const auto begin = last_turn_of(roles, near);
      if (begin && (*begin > 0 || from == 0)) return act(talk_.taken_back(from + *begin, texts[*begin]));
    }
    fail_with("there is nothing to take back", terminals::usage);
  }

  static std::string user_text(const json::raw_json& message) {
    std::string all;
    json::for_each_element(json::find_member(message, "content"), [&](const json::raw_json& block) {
      all += json::member_text(block, "text");
      return all.size() < 1'000;
    });
    return all;
  }

  void act(const check_file& a) {
    const auto path = path_of(a.path);
    const auto block = input::message_with_files("", "", {path});
    if (!block) return fail_with(block.error().message, terminals::usage);
    act(talk_.add_file(path));
  }

  void act(const clear_screen&) { c_.screen->clear_screen(); }
  void act(const leave&) { over_ = true; }

  context& c_;
  bool at_terminal_;
  conversation talk_;
  typed_lines lines_;
  std::optional<link::connected> made_;
  int status_ = terminals::done;
  bool over_ = false;
};

}  // namespace

int chat_at(context& c, const chat_options& o) {
  chat_shell shell(c, o);
  if (const int status = shell.begin(o); status != terminals::done) return status;
  return shell.run();
}

}  // namespace mcpbx::cli::chat
