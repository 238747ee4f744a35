// Tracks the open questions of a run (L19) and decides which of them the person at this terminal is asked. Events of an
// attached run repeat earlier questions and answers, and other attached clients may answer first.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/input_prompt.hpp"
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::terminals {

class open_questions {
 public:
  /// Questions that are answered here; others are left to other clients.
  struct rules {
    bool approvals = false;           ///< by the person
    std::optional<input_mode> input;  ///< unset: by nobody
  };
  /// `screen` and `link` must outlive it.
  open_questions(terminal& screen, link::daemon_connection& link, rules r) : screen_(screen), link_(link), rules_(r) {}

  /// Takes every event of the run.
  void event(std::string_view type, const json::raw_json& params);
  /// Answers the first open question that is answered here, and sends the answer. Call it as connection::idle_handler,
  /// when all earlier answers are known. Returns early if the question ends meanwhile.
  void ask();

 private:
  struct open_question {
    std::string run, id;
    json::raw_json event;
  };
  void opened(const std::string& run, const json::raw_json& event);
  void closed(const json::raw_json& answer);
  bool answers(const open_question& q) const;
  std::optional<std::string> answer_to(const open_question& q, const question_watch& watch) const;

  terminal& screen_;
  link::daemon_connection& link_;
  rules rules_;
  std::deque<open_question> open_;
  std::vector<std::string> answered_;  // questions answered at this terminal
  std::string asked_;                  // the last question that was shown
};

}  // namespace mcpbx::cli::terminals
