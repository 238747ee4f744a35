// Translates the end of a run into an exit status and a sentence.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::cli {

struct run_end {
  terminals::exit_status status = terminals::done;
  std::string why;  ///< reason for the lack of an answer, or a note about it (status `done`); or ""
};
/// Judges the result of a run. An answer made at a limit and calls for the caller count as success. `interrupted`: the
/// user asked for the end.
run_end end_of(const json::raw_json& result, bool interrupted);

}  // namespace mcpbx::cli
