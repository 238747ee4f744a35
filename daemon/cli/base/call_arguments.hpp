// The arguments of `mcpbx call` as JSON: key=value words typed by the tool's schema, or one JSON object. Pure.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {

/// One value as JSON, by the `type` that the schema gives the key. Without one, literals and numbers stay what they are
/// and everything else is a string. errc::invalid_argument names the key and the type.
result<std::string> typed_value(const raw_json& schema, const std::string& key, const std::string& value);

/// The words `key=value` as one JSON object. errc::invalid_argument for a word that is none, or a key that comes twice.
result<std::string> arguments_of_words(const std::vector<std::string>& words, const raw_json& schema);

/// `text` (of --args) when it is a JSON object, on one line; errc::invalid_argument otherwise.
result<std::string> arguments_of_json(std::string_view text);

}  // namespace mcpbx::cli
