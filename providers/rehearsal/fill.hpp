// Filling a tool's arguments from what was found in a question, guided by the tool's schema alone.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/rehearsal/findings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::providers::rehearsal {

struct filled {
  std::string arguments;  ///< a JSON object
  double certainty = 0;   ///< how much of it was found rather than supposed
};

/// Nothing when a required property cannot be filled. `earlier`: the text of earlier results, for questions that point
/// back ("read it"); "" when there is none.
std::optional<filled> fill(const raw_json& schema, const findings& from, std::string_view earlier);

}  // namespace mcpbx::providers::rehearsal
