// Checks a final answer against the JSON Schema of the request's responseFormat. Pure, so that a run restored from its
// records reaches the same verdict as the live run.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon::core {

/// The result of check_answer().
struct checked_answer {
  json::raw_json data;  ///< value of the answer; absent if there is a problem
  std::string problem;  ///< one line per fault, for the model and for people; "": the answer fits
};

/// Checks an answer against a JSON Schema. Blanks around the value and one code fence around the whole answer are
/// allowed. An answer that could not be checked completely has a problem.
checked_answer check_answer(std::string_view text, const json::raw_json& schema);

/// Returns the path of an empty `enum` that every answer would have to match, such as ".properties.unit.enum", or "".
/// Looks only at required properties. The schema must compile.
std::string empty_choice(const json::raw_json& schema);

}  // namespace mcpbx::daemon::core
