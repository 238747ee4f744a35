// The arguments of prompts as words, and names that resemble a wrong one. No I/O.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::input {

/// Turns words `key=value` into the JSON object of a prompt's arguments, which are all strings.
/// errc::invalid_argument: a malformed word, or a key that comes twice.
result<std::string> prompt_arguments(const std::vector<std::string>& words);

/// Returns the names of arguments that the definition requires and the words lack, joined by " and ", or "".
std::string missing_arguments(const json::raw_json& definition, const std::vector<std::string>& words);

/// Returns a sentence for each word whose key the definition does not have.
std::vector<std::string> unknown_arguments(const json::raw_json& definition, const std::vector<std::string>& words);

/// Returns a hint such as ` (did you mean "x"?)` from the texts of this member in a list, or "".
std::string near_name(std::string_view name, const std::vector<json::raw_json>& list, std::string_view member);

}  // namespace mcpbx::cli::input
