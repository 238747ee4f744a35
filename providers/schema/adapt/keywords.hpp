// Classifies the keywords of JSON Schema by the kind of value that the standard demands.
#pragma once
#include <cstdint>
#include <string_view>

namespace mcpbx::providers::adapt {

enum class keyword : std::uint8_t {
  other,         ///< no demand on its value, or not known
  type,          ///< a type or a list of types, each once
  required,      ///< a list of texts, each once
  enumeration,   ///< a list with an element
  examples,      ///< a list
  number,        ///< a number
  bound,         ///< a number; in draft 4 a switch that makes the bound beside it exclusive
  text,          ///< a text
  count,         ///< an integer of at least 0
  flag,          ///< true or false
  properties,    ///< an object of schemas
  schema_map,    ///< likewise, where drafts agree less
  map,           ///< an object
  schema,        ///< a schema
  plain_schema,  ///< a schema that nobody looks into
  items,         ///< a schema; before 2020-12 also a list of them
  schema_list    ///< a list of schemas, with an element
};

/// Looks a keyword up by its name as written in the text, without unescaping it.
keyword find_keyword(std::string_view name);

/// Returns true if `value` (one checked JSON value) has the kind that the standard demands of such a keyword. Does not
/// look into lists and objects of schemas, types and names.
bool fits(keyword what, std::string_view value);

/// Returns true if `value` (one checked JSON value) is the name of a type, in quotes.
bool is_type(std::string_view value);
/// Returns true if `value`, or the text that begins with it, is a list with an element.
bool is_filled(std::string_view value);
/// Returns true for counts such as 0, 3 and 3.0.
bool is_count(std::string_view value);
inline bool is_flag(std::string_view value) {
  return value == "true" || value == "false";
}
inline bool is_number(std::string_view value) {
  return !value.empty() && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
}

}  // namespace mcpbx::providers::adapt
