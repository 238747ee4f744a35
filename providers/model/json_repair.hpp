// Repairs malformed JSON of models if it has exactly one meaning. Never invents an end, a value or a quote: a guessed
// path or query is worse than an error.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

struct repaired_json {
  std::string text;                       ///< one JSON object, RFC 8259
  std::vector<std::string_view> repairs;  ///< names of the repairs, each once, such as "trailing comma"
};

inline constexpr std::size_t max_repaired = 4U << 20;  ///< largest text in bytes
inline constexpr int max_repaired_depth = 64;          ///< nested containers

/// Returns the one object in `text`, which is not valid JSON.
/// - Repairs byte order marks and other blanks, code fences and prose around the object, one closing bracket too many,
///   other quotes, unquoted keys, superfluous and missing commas, comments, literals of Python and JavaScript, control
///   characters and unknown escapes in strings (the backslash is kept), joined strings, an object that was escaped as a
///   whole. Digits stay as they are.
/// - Refuses all else with errc::parse, the reason and the byte offset: unfinished strings, brackets and numbers,
///   quotes inside strings, NaN, leading zeros, paths whose backslashes may or may not be escapes, and objects whose
///   quotes do not tell for certain where a string ends. errc::limit: too deep or too large.
result<repaired_json> repair_json(std::string_view text);

/// Numbers that are accepted: those of JSON, or also Python's `.5` and `5.`, which get the zero that they lack.
enum class number_form : std::uint8_t { json, python };

/// Does the same for one value of any kind that is all of `text`: repairs nothing around it.
result<repaired_json> repair_json_value(std::string_view text, number_form numbers = number_form::json);

}  // namespace mcpbx::providers
