// What a run has cost, as a line for people.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::cli {

/// `2 rounds, 1 tool call, 1200 tokens in (1000 cached), 56 out`, from the result of a run; `about` before numbers that
/// were estimated. "" when the model was never called.
std::string usage_line(const raw_json& result);

}  // namespace mcpbx::cli
