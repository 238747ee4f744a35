// Fills a tool's arguments with words found in a question, guided by the tool's schema alone.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/rehearsal/clause_findings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::providers::rehearsal {

struct filled {
  std::string arguments;  ///< a JSON object
  double certainty = 0;   ///< share of the arguments that was found in the question rather than guessed
};

/// Returns the arguments, or nullopt if a required property cannot be filled. `earlier` is the text of earlier results,
/// for questions that point back ("read it"), or "".
std::optional<filled> fill(const json::raw_json& schema, const findings& from, std::string_view earlier);

}  // namespace mcpbx::providers::rehearsal
