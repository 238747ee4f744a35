// What models write instead of JSON, read where there is one meaning to it. Nothing is ever made up: what would need an
// invented end, value or quote is refused, because a guessed path or query is worse than an error.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

struct repaired_json {
  std::string text;                       ///< one JSON object, RFC 8259
  std::vector<std::string_view> repairs;  ///< what was put right, each once, such as "trailing comma"
};

inline constexpr std::size_t max_repaired = 4U << 20;  ///< bytes of text that is looked at
inline constexpr int max_repaired_depth = 64;          ///< nested containers

/// The one object in `text`, which is not JSON as it stands. Repaired are: byte order marks and other blanks, code
/// fences and prose around the object, one closing bracket too many, quotes of other kinds, keys without quotes, commas
/// too many at an end or missing between members, comments, the literals of Python and JavaScript, control characters
/// and unknown escapes in strings (their backslash is kept), joined strings, a whole object that was escaped once more.
/// Digits stay as they are written. Refused (errc::parse, with the reason and the byte) is everything else, above all
/// strings, brackets and numbers without their end, quotes inside of strings, NaN, leading zeros, paths in which some
/// backslashes mean themselves and others might be escapes, objects in which some keys lost their quotes beside a
/// string that may have got one of them, strings in other quotes than the rest that seem to hold members of what is
/// around them; errc::limit for depth and size.
result<repaired_json> repair_json(std::string_view text);

/// The same for one value of any kind, which is all of `text`: nothing is repaired around it.
result<repaired_json> repair_json_value(std::string_view text);

}  // namespace mcpbx::providers
