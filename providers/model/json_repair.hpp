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

/// Returns the one object in `text`, which is not valid JSON, with the repairs that README.md lists. errc::parse, with
/// the reason and the byte offset: it has another fault, or several meanings. errc::limit: too deep or too large.
result<repaired_json> repair_json(std::string_view text);

/// Numbers that are accepted: those of JSON, or also Python's `.5` and `5.`, which get the zero that they lack.
enum class number_form : std::uint8_t { json, python };

/// Does the same for one value of any kind that is all of `text`: repairs nothing around it.
result<repaired_json> repair_json_value(std::string_view text, number_form numbers = number_form::json);

}  // namespace mcpbx::providers
