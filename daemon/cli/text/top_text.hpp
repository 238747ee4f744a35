// The screen of `mcpbx top` as lines.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace mcpbx::cli::text {

/// Returns the lines for an answer of mcpbx/stats/live: the daemon, then the servers with most calls first. `width`: 0
/// for as wide as they are. `height`: at most so many lines, the last of which counts the servers that are left out; 0
/// for all.
std::vector<terminals::styled> top_lines(const json::raw_json& live, std::size_t width, std::size_t height,
                                         std::string_view mark = "…");

}  // namespace mcpbx::cli::text
