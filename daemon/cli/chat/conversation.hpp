// The conversation of `mcpbx chat` as a state machine: inputs of the person and ends of runs go in, actions come out.
// No I/O.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/trace/trace_context.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mcpbx::cli::chat {

/// Tells the person something; `wrong`: an input could not be used.
struct say {
  std::string text;
  bool wrong = false;
};
/// Begins a run with this text and these files; report its end with turn_ended().
struct ask {
  std::string text;
  std::vector<std::string> files;
};
/// Shows the tools that have all of these words in name or description.
struct list_tools {
  std::vector<std::string> words;
};
struct list_models {};
/// Looks the model up; if it is configured, calls use_model().
struct find_model {
  std::string name;
};
/// Looks the session up; if it is there, calls use_session().
struct find_session {
  std::string id;
};
/// Finds the beginning of the last turn among the first `keep` messages of the session (absent: among all), and calls
/// taken_back().
struct find_last_turn {
  std::string session;
  std::optional<std::size_t> keep;
};
/// Looks at the file; if it can be sent, calls add_file().
struct check_file {
  std::string path;
};
struct clear_screen {};
struct leave {};

using action = std::variant<say, ask, list_tools, list_models, find_model, find_session, find_last_turn, check_file,
                            clear_screen, leave>;
using actions = std::vector<action>;

/// Terms of the runs of a conversation; "" and empty lists: those of the configuration or the session.
struct chat_terms {
  std::string model, profile, system;
  std::vector<std::string> tools;  ///< globs
};

/// End of a run that `chat::ask` began.
struct turn_end {
  std::string run;        ///< name that the request gave it
  bool begun = true;      ///< false: the request was refused or never sent; it can be repeated
  json::raw_json result;  ///< absent if none came, because the connection was lost or left
};

class conversation {
 public:
  /// `session`: "" begins a new one with the first question.
  conversation(chat_terms terms, std::string session) : terms_(std::move(terms)), session_(std::move(session)) {}

  /// Takes one input: a command that begins with a slash, else a question. The caller carries the actions out in order.
  actions input(std::string_view text);

  // Reports of the caller.
  void turn_ended(const turn_end& end);
  /// Reports what became of the run unresolved(): its result, or an absent one if the daemon does not know it.
  void resolved(const json::raw_json& result);
  say use_model(std::string name);
  say use_session(std::string id, std::string model);
  /// The first `keep` messages stay; `text` is the question that was taken back.
  say taken_back(std::size_t keep, std::string_view text);
  say add_file(std::string path);

  /// Returns the params of `mcpbx/chat` for a question: `message` is its user message as JSON.
  std::string params(const std::string& run, const std::string& message, bool answers,
                     const trace::trace_context& trace = {}) const;
  /// Returns the name of a run whose end is unknown, because the connection was lost; "" if there is none. To be
  /// settled with resolved() before the next question.
  const std::string& unresolved() const noexcept { return unresolved_; }
  const std::string& session() const noexcept { return session_; }
  const chat_terms& terms() const noexcept { return terms_; }

  /// Returns the words of all commands, with their slash.
  static std::span<const std::string_view> commands();

 private:
  actions command(std::string_view word, std::string_view rest);
  actions take_back();
  void keep(const json::raw_json& result);

  chat_terms terms_;
  std::string session_;              // to go on with, or ""
  std::optional<std::size_t> keep_;  // go on behind so many messages of session_, in a new session
  std::string carried_;              // elements of `messages` so far, for a daemon that keeps no sessions
  std::vector<std::string> files_;   // for the next question
  std::string unresolved_;
};

/// Returns the place at which the last turn of messages with these roles begins: the first of the user's last messages
/// in a row. `starts` are the places where runs begin; no turn goes beyond one. nullopt: no message is the user's.
std::optional<std::size_t> last_turn_of(std::span<const std::string> roles, std::span<const std::size_t> starts);

}  // namespace mcpbx::cli::chat
