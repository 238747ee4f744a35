// What a daemon says of itself, for people.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli {

/// A row of name and words for each member of an object: members of an object as `name value, name value`, elements of
/// a list one after the other, what is empty as "none".
std::vector<std::vector<std::string>> status_rows(const raw_json& status);

/// Why a tool server is not ready, for one table cell; "" when nothing is known.
std::string trouble_of(const raw_json& server);

}  // namespace mcpbx::cli
