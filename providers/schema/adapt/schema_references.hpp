// Removes dangling references from a schema: APIs refuse a whole request because of one.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::providers::adapt {

/// Removes references that lead out of the document, because nothing is ever fetched. Says so in the description and in
/// `changes`. Returns the same bytes if there are none, or beyond the bounds of json_schema.
json::raw_json mend_references(const json::raw_json& schema, std::vector<std::string>& changes);

}  // namespace mcpbx::providers::adapt
