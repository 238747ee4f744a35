// References of a schema that lead to nothing, for which an API refuses a whole request.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::providers {

/// Nothing is ever fetched, so what is not in the document is not known: a schema with a reference to it loses the
/// reference, and its description says so to the model. Each is told in `changes`, by its place. The same bytes when
/// there is nothing to mend, and for what is beyond the bounds of json_schema.
raw_json mend_references(const raw_json& schema, std::vector<std::string>& changes);

}  // namespace mcpbx::providers
