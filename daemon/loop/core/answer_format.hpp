// Answers that must be JSON of a given form (responseFormat): whether one is, and what is wrong with it. Pure, so that
// the fold of a run's records says what the live run said.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon {

struct checked_answer {
  raw_json data;        ///< the answer's value; absent when there is a problem
  std::string problem;  ///< in words for the model and for people, a line per fault; "": the answer fits
};

/// Holds an answer against a JSON Schema. Blanks around the value and one code fence around all of it are no fault; an
/// answer that could not be checked whole is one, for nobody knows whether it fits.
checked_answer check_answer(std::string_view text, const raw_json& schema);

/// The place in a schema that compiles, such as ".properties.unit.enum", of an empty list of values that every answer
/// would have to be from; "" when there is none.
std::string empty_choice(const raw_json& schema);

}  // namespace mcpbx::daemon
