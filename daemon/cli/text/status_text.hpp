// Formats a daemon's status for people.
#pragma once
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::text {

/// Returns a row of name and words for each member of an object: objects as `name value, name value`, lists element by
/// element, empty values as "none".
std::vector<std::vector<std::string>> status_rows(const json::raw_json& status);

/// Returns the same for a person at a terminal: a row for each subject, numbers with their units and without those that
/// are zero, and a row for each tool server that needs a look.
terminals::fitted_table status_facts(const json::raw_json& status);

/// Returns the last error of a tool server with its time, for one table cell; "" if it has none.
std::string trouble_of(const json::raw_json& server);

}  // namespace mcpbx::cli::text
