// The screen of `mcpbx top` as lines.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace mcpbx::cli::text {

/// Returns the lines for an answer of mcpbx/stats/live: the daemon, then the servers with most calls first. At most
/// `height` lines, the last of which counts the servers that are left out. 0: as wide as they are, all of them.
std::vector<terminals::styled> top_lines(const json::raw_json& live, std::size_t width, std::size_t height,
                                         std::string_view mark = "…");

}  // namespace mcpbx::cli::text
