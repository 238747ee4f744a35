// Puts tool output, and instructions of tool servers, between two marks that they cannot contain, so that the model can
// tell them from the words of people (docs/guarantees.md, G40).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon::results {

/// Returns `shown` between two marks with `nonce`. Removes the nonce and control, bidi and zero-width characters from
/// the texts. Keeps only content and isError; structured content without any other content becomes text. Pure.
json::raw_json marked_as_data(const json::raw_json& shown, std::string_view nonce);

/// Returns the text of a resource between two marks that name it and its server ("": not known), cleaned in the same
/// way. Pure.
std::string marked_resource(std::string_view text, std::string_view uri, std::string_view server,
                            std::string_view nonce);

/// Returns the joined instructions of tool servers between two marks with `nonce`, for a system prompt, cleaned in the
/// same way. Pure.
std::string marked_instructions(std::string_view instructions, std::string_view nonce);
/// Returns a system prompt without what marked_instructions() made: a caller may send a prompt back that has it. Pure.
std::string without_marked_instructions(std::string_view system);

}  // namespace mcpbx::daemon::results
