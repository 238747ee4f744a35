// Makes the arguments of `mcpbx call`: from key=value words, typed by the tool's schema, or from one JSON object. No
// I/O.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::input {

/// Splits words `key=value` at their first "=". errc::invalid_argument: a malformed word, with `mend` at the end
/// of the error, or a key that comes twice.
result<std::vector<std::pair<std::string, std::string>>> key_values(const std::vector<std::string>& words,
                                                                    std::string_view mend);

/// One value as JSON, by the `type` that the schema gives the key. Without one, literals and numbers stay what they are
/// and everything else is a string. errc::invalid_argument names the key and the type.
result<std::string> typed_value(const json::raw_json& schema, const std::string& key, const std::string& value);

/// Turns words `key=value` into one JSON object. errc::invalid_argument: as key_values() and typed_value() say.
result<std::string> arguments_of_words(const std::vector<std::string>& words, const json::raw_json& schema);

/// Returns `text` (of --args) on one line; errc::invalid_argument: it is no JSON object.
result<std::string> arguments_of_json(std::string_view text);

}  // namespace mcpbx::cli::input
