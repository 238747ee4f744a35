// The questions of a run (L19) as they come and go: which of them a person at this terminal is asked, and when. A run
// that is attached to tells also what was asked and answered before, and others who are attached may answer first.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {

class open_questions {
 public:
  /// Both must outlive it.
  open_questions(terminal& screen, connection& link) : screen_(screen), link_(link) {}

  /// Takes every event of the run.
  void event(std::string_view type, const raw_json& params);
  /// Asks the person the first one that is open, and sends the answer. For connection::idle_handler: what was answered
  /// already is known by then. An interrupt, or the end of the question meanwhile, leaves it to call().
  void ask();

 private:
  struct open_question {
    std::string run, id;
    raw_json event;
  };
  void opened(const std::string& run, const raw_json& event);
  void closed(const raw_json& answer);

  terminal& screen_;
  connection& link_;
  std::deque<open_question> open_;
  std::vector<std::string> answered_;  // here
  std::string asked_;                  // the last one that a person has seen
};

}  // namespace mcpbx::cli
