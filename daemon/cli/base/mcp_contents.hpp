// Lists and binary contents of MCP, for verbs that show what tool servers offer.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {

/// Asks for a list of MCP with all its pages and returns its items. On failure prints the reason and sets `status`.
std::optional<std::vector<json::raw_json>> list_of(context& c, link::daemon_connection& link, std::string_view method,
                                                   std::string_view key, int& status);

/// Returns the list as one JSON array, its items as they came.
std::string array_of(const std::vector<json::raw_json>& items);

/// Names a block of a result that a line of text cannot show, with its size: "[image/png, 34 KiB]".
std::string told_block(const json::raw_json& block);

/// Writes bytes to a file that is made or replaced. errc::io names the file and the reason.
result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace mcpbx::cli
