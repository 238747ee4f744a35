// Commands change the terms of the next run; questions begin one.
#include "daemon/cli/chat/conversation.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "mcp/trace/trace_meta.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::cli::chat {
namespace {

constexpr std::string_view help_text =
    R"(/tools [WORDS]    the tools, or those that have all of these words
/model [NAME]     the models, or go on with this one
/session [ID|new] the session, or go on with another one, or begin a new one
/undo             take back the last question and its answer
/file PATH        send a file with the next question: text, an image or a PDF
/system [TEXT|-]  the system prompt, or another one; - is the configured one
/clear            clear the screen
/help             this list
/exit             end; Ctrl-D does the same
A line that ends in \ goes on in the next one; """ begins and ends an input
of several lines. Ctrl-C ends the answer that is coming. What begins with // is
sent with one slash; what begins with a blank is not kept in the history.)";

constexpr std::array<std::string_view, 10> words{"/clear", "/exit",   "/file",    "/help",  "/model",
                                                 "/quit",  "/system", "/session", "/tools", "/undo"};
constexpr std::size_t most_files = 64, shown_of_question = 60;

// Returns the command's word if the input is one: a slash, letters, and then the end or a blank. Paths are none.
std::string_view command_word(std::string_view text) {
  if (!text.starts_with('/')) return {};
  const auto end = std::min(text.find_first_of(" \t\n"), text.size());
  const auto word = text.substr(0, end);
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return word.size() > 1 && std::ranges::all_of(word.substr(1), is_letter) ? word : std::string_view();
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \t\n"), text.size());
    if (end > 0) all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

actions said(std::string text, bool wrong = false) {
  return {say{std::move(text), wrong}};
}

// Returns the beginning of a question on one line.
std::string beginning_of(std::string_view text) {
  std::string line(cut_utf8(trimmed(text), shown_of_question));
  if (line.size() < trimmed(text).size()) line += "…";
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return line;
}

// Returns the text blocks of a message, joined.
std::string text_of(const json::raw_json& message) {
  const auto content = json::find_member(message, "content");
  if (auto text = content.as_string()) return *text;
  std::string all;
  json::for_each_element(content, [&](const json::raw_json& block) {
    if (const auto text = json::member_text(block, "text"); !text.empty()) all += (all.empty() ? "" : "\n") + text;
    return true;
  });
  return all;
}

}  // namespace

std::span<const std::string_view> conversation::commands() {
  return words;
}

actions conversation::input(std::string_view text) {
  if (trimmed(text).empty()) return {};
  if (const auto word = command_word(trimmed(text)); !word.empty())
    return command(word, trimmed(trimmed(text).substr(word.size())));
  if (text.starts_with("//")) text.remove_prefix(1);
  return {ask{std::string(text), files_}};
}

actions conversation::command(std::string_view word, std::string_view rest) {
  if (word == "/help") return said(std::string(help_text));
  if (word == "/exit" || word == "/quit") return {leave{}};
  if (word == "/clear") return {clear_screen{}};
  if (word == "/tools") return {list_tools{split_words(rest)}};
  if (word == "/undo") return take_back();
  if (word == "/model") {
    if (rest.empty()) return {list_models{}};
    return {find_model{std::string(rest)}};
  }
  if (word == "/file") {
    if (rest.empty()) {
      if (files_.empty()) return said("write /file PATH", true);
      std::string all = "with the next question go:";
      for (const auto& file : files_) all += "\n  " + file;
      return said(std::move(all));
    }
    if (files_.size() >= most_files)
      return said("no more than " + std::to_string(most_files) + " files go with a question", true);
    return {check_file{std::string(rest)}};
  }
  if (word == "/system") {
    if (rest.empty())
      return said(terms_.system.empty() ? "the system prompt is the configured one"
                                        : "the system prompt is: " + terms_.system);
    terms_.system = rest == "-" ? "" : std::string(rest);
    return said(terms_.system.empty() ? "the system prompt is the configured one from now on"
                                      : "the next questions go with this system prompt");
  }
  if (word == "/session") {
    if (rest.empty())
      return said(session_.empty()
                      ? (carried_.empty() ? "a new session begins with the next question"
                                          : "the daemon keeps no sessions; this conversation ends with the program")
                      : "the session is " + session_ + (keep_ ? ", up to what was taken back" : ""));
    if (rest != "new") return {find_session{std::string(rest)}};
    session_.clear();
    carried_.clear();
    keep_.reset();
    return said("a new session begins with the next question");
  }
  return said("there is no " + std::string(word) + did_you_mean(word, words) + "; // begins a question with a slash",
              true);
}

actions conversation::take_back() {
  if (!session_.empty() && keep_ != 0) return {find_last_turn{session_, keep_}};
  std::vector<json::raw_json> messages;
  std::vector<std::string> roles;
  json::for_each_element(json::raw_json::own("[" + carried_ + "]"), [&](const json::raw_json& m) {
    messages.push_back(m);
    roles.push_back(json::member_text(m, "role"));
    return true;
  });
  const auto begin = last_turn_of(roles, {});
  if (!begin) return said("there is nothing to take back", true);
  const auto text = text_of(messages[*begin]);
  carried_.clear();
  for (std::size_t i = 0; i < *begin; ++i) carried_.append(carried_.empty() ? "" : ",").append(messages[i].text());
  return said("taken back: " + beginning_of(text));
}

void conversation::keep(const json::raw_json& result) {
  if (auto session = json::member_text(result, "session"); !session.empty()) {
    session_ = std::move(session);
    keep_.reset();
    carried_.clear();
    return;
  }
  const auto text = json::find_member(result, "messages").text();
  if (text.size() < 2) return;
  carried_ = text.substr(1, text.size() - 2);
  std::ranges::replace_if(carried_, [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

void conversation::turn_ended(const turn_end& end) {
  if (!end.begun) return;
  files_.clear();
  if (end.result)
    keep(end.result);
  else
    unresolved_ = end.run;
}

void conversation::resolved(const json::raw_json& result) {
  unresolved_.clear();
  if (result) keep(result);
}

say conversation::use_model(std::string name) {
  terms_.model = std::move(name);
  return {"the next questions go to " + terms_.model};
}

say conversation::use_session(std::string id, std::string model) {
  session_ = std::move(id);
  keep_.reset();
  carried_.clear();
  if (!model.empty()) terms_.model = std::move(model);
  return {"the next question goes on with the session " + session_};
}

say conversation::taken_back(std::size_t keep, std::string_view text) {
  keep_ = keep;
  return {"taken back: " + beginning_of(text) + "\nthe next question goes on from before it, in a new session; " +
          session_ + " keeps what was said"};
}

say conversation::add_file(std::string path) {
  files_.push_back(std::move(path));
  return {files_.back() + " goes with the next question"};
}

std::string conversation::params(const std::string& run, const std::string& message, bool answers,
                                 const trace::trace_context& trace) const {
  std::string p;
  json::json_writer w(p);
  w.begin_object().member("run", run).set("answers", answers).member("approve", answers ? "ask" : "none");
  w.key("messages").begin_array();
  if (session_.empty() && !carried_.empty()) w.token(carried_);
  w.token(message).end_array();
  w.filled("session", session_).given("keep", session_.empty() ? std::nullopt : keep_);
  w.filled("model", terms_.model).filled("profile", terms_.profile).filled("system", terms_.system);
  if (!terms_.tools.empty()) w.list("tools", terms_.tools);
  trace::append_trace_meta(w, trace);
  w.end_object();
  return p;
}

std::optional<std::size_t> last_turn_of(std::span<const std::string> roles, std::span<const std::size_t> starts) {
  for (auto at = roles.size(); at-- > 0;) {
    if (roles[at] != "user") continue;
    while (at > 0 && roles[at - 1] == "user" && std::ranges::find(starts, at) == starts.end()) --at;
    return at;
  }
  return std::nullopt;
}

}  // namespace mcpbx::cli::chat
