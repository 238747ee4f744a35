// Formats the usage of a run as a line for people.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::cli::text {

/// Returns `2 rounds, 1 tool call, 1200 tokens in (1000 cached), 56 out` for the result of a run, with `about` before
/// estimates; "" if the model was never called.
std::string usage_line(const json::raw_json& result);

}  // namespace mcpbx::cli::text
