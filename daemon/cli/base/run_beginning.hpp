// The beginning of a run that was not started, for people (`ask --dry-run`).
#pragma once
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/raw_json.hpp"

namespace mcpbx::cli {

/// Returns a row for each fact in the result of `mcpbx/chat` with `dryRun`.
terminals::fitted_table beginning_table(const json::raw_json& told);

}  // namespace mcpbx::cli
