// How a run ended, for whoever asked from a shell.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::cli {

struct run_end {
  exit_status status = done;
  std::string why;  ///< why there is no answer, or what is to be known (status `done`); or ""
};
/// Of the result of a run. An answer that was made at a limit is one, and so are calls that are handed to the caller; a
/// run without an answer says so in its `reason`.
/// `interrupted`: the user asked for its end.
run_end end_of(const raw_json& result, bool interrupted);

}  // namespace mcpbx::cli
