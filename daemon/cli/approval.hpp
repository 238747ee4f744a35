// A question of a run (L19), asked at the terminal.
#pragma once
#include "daemon/cli/terminal.hpp"
#include "mcp/support/raw_json.hpp"

#include <optional>

namespace mcpbx::cli {

struct approval {
  bool approve = false;
  bool always = false;  ///< for every call of this tool in this run
};

/// Whether there is somebody to ask: standard input and standard error are a terminal.
bool can_ask();

/// Shows the tool, its arguments and why there is a question, and reads yes, no, always or show from standard input.
/// `event` is a question event. End of input is a no. nullopt when the user interrupted.
std::optional<approval> ask_person(terminal& screen, const raw_json& event);

}  // namespace mcpbx::cli
