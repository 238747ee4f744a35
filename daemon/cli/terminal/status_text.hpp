// Formats a daemon's status for people.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli {

/// Returns a row of name and words for each member of an object: objects as `name value, name value`, lists element by
/// element, empty values as "none".
std::vector<std::vector<std::string>> status_rows(const raw_json& status);

/// Returns the last error of a tool server with its time, for one table cell; "" if it has none.
std::string trouble_of(const raw_json& server);

}  // namespace mcpbx::cli
