// Asks a run's question (L19) at the terminal.
#pragma once
#include "daemon/cli/terminal/read_line.hpp"
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <optional>
#include <string_view>

namespace mcpbx::cli::terminals {

struct approval {
  bool approve = false;
  bool always = false;  ///< approve every call of this tool in this run
};

/// Shows the tool, its arguments and the reason of the question, and reads yes, no, always or show from standard input.
/// `event` is a question event. End of input means no. nullopt: an interrupt, or the question was answered elsewhere.
std::optional<approval> ask_person(terminal& screen, const json::raw_json& event, const question_watch& watch = {});

/// Asks a yes-or-no question. Anything but yes means no.
bool ask_yes(terminal& screen, std::string_view question);

}  // namespace mcpbx::cli::terminals
