// Formats tool servers for a person at a terminal.
#pragma once
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx::cli::text {

/// Returns the style of a server's state.
terminals::look look_of_state(std::string_view state);

/// Returns the memory of a server's processes, such as "12.5 MiB"; "" if unknown.
std::string memory_of(const json::raw_json& server);

/// Returns the last error of a server with its time before it; "" if it has none.
std::string error_with_time(const json::raw_json& server);

/// Returns one row for each server of mcpbx/servers, with its last error below.
terminals::fitted_table server_table(const json::raw_json& list);

/// Returns all that mcpbx/servers tells about one server: a row for each fact, without facts that are unknown.
terminals::fitted_table server_facts(const json::raw_json& server);

}  // namespace mcpbx::cli::text
