// The table of keywords, sorted by length: few keywords share one, so a look-up compares hardly any names. The common
// ones come first.
#include "providers/schema/adapt/keywords.hpp"

#include "mcp/support/byte_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcpbx::providers::adapt {
namespace {

struct named_keyword {
  std::string_view name;
  keyword what;
};

constexpr std::array<named_keyword, 51> table{{{"if", keyword::schema},
                                               {"not", keyword::schema},
                                               {"type", keyword::type},
                                               {"enum", keyword::enumeration},
                                               {"$ref", keyword::text},
                                               {"then", keyword::schema},
                                               {"else", keyword::schema},
                                               {"items", keyword::items},
                                               {"title", keyword::text},
                                               {"anyOf", keyword::schema_list},
                                               {"oneOf", keyword::schema_list},
                                               {"allOf", keyword::schema_list},
                                               {"$defs", keyword::schema_map},
                                               {"format", keyword::text},
                                               {"minimum", keyword::number},
                                               {"maximum", keyword::number},
                                               {"pattern", keyword::text},
                                               {"$anchor", keyword::text},
                                               {"required", keyword::required},
                                               {"minItems", keyword::count},
                                               {"maxItems", keyword::count},
                                               {"examples", keyword::examples},
                                               {"contains", keyword::schema},
                                               {"$comment", keyword::text},
                                               {"readOnly", keyword::flag},
                                               {"minLength", keyword::count},
                                               {"maxLength", keyword::count},
                                               {"writeOnly", keyword::flag},
                                               {"properties", keyword::properties},
                                               {"multipleOf", keyword::number},
                                               {"deprecated", keyword::flag},
                                               {"description", keyword::text},
                                               {"uniqueItems", keyword::flag},
                                               {"definitions", keyword::schema_map},
                                               {"prefixItems", keyword::schema_list},
                                               {"minContains", keyword::count},
                                               {"maxContains", keyword::count},
                                               {"minProperties", keyword::count},
                                               {"maxProperties", keyword::count},
                                               {"propertyNames", keyword::schema},
                                               {"contentEncoding", keyword::text},
                                               {"additionalItems", keyword::plain_schema},
                                               {"exclusiveMinimum", keyword::bound},
                                               {"exclusiveMaximum", keyword::bound},
                                               {"contentMediaType", keyword::text},
                                               {"dependentSchemas", keyword::schema_map},
                                               {"unevaluatedItems", keyword::schema},
                                               {"patternProperties", keyword::schema_map},
                                               {"dependentRequired", keyword::map},
                                               {"additionalProperties", keyword::schema},
                                               {"unevaluatedProperties", keyword::schema}}};
constexpr auto length = [](const named_keyword& n) { return n.name.size(); };
static_assert(std::ranges::is_sorted(table, {}, length));

// First entry of each length, and the end of the table behind the last one.
constexpr auto begins = [] {
  std::array<std::uint8_t, table.back().name.size() + 2> at{};
  for (std::size_t n = 0; n < at.size(); ++n)
    at[n] = static_cast<std::uint8_t>(std::ranges::lower_bound(table, n, {}, length) - table.begin());
  return at;
}();

}  // namespace

keyword find_keyword(std::string_view name) {
  if (name.size() + 1 >= begins.size()) return keyword::other;
  for (std::size_t i = begins[name.size()]; i < begins[name.size() + 1]; ++i)
    if (table[i].name == name) return table[i].what;
  return keyword::other;
}

bool fits(keyword what, std::string_view value) {
  switch (what) {
    case keyword::type:
      return is_type(value) || is_filled(value);
    case keyword::enumeration:
    case keyword::schema_list:
      return is_filled(value);
    case keyword::required:
    case keyword::examples:
      return value.starts_with('[');
    case keyword::number:
    case keyword::bound:
      return is_number(value);
    case keyword::text:
      return value.starts_with('"');
    case keyword::count:
      return is_count(value);
    case keyword::flag:
      return is_flag(value);
    case keyword::properties:
    case keyword::schema_map:
    case keyword::map:
      return value.starts_with('{');
    case keyword::schema:
    case keyword::plain_schema:
      return value.starts_with('{') || is_flag(value);
    case keyword::items:
      return value.starts_with('{') || value.starts_with('[') || is_flag(value);
    case keyword::other:
      break;
  }
  return !value.empty();
}

bool is_type(std::string_view value) {
  constexpr std::array<std::string_view, 7> types{R"("string")",  R"("object")",  R"("array")", R"("number")",
                                                  R"("integer")", R"("boolean")", R"("null")"};
  return std::ranges::find(types, value) != types.end();
}

bool is_filled(std::string_view value) {
  if (!value.starts_with('[')) return false;
  const char* const end = value.data() + value.size();
  const char* const first = byte_search::skip_blanks(value.data() + 1, end);
  return first != end && *first != ']';
}

bool is_count(std::string_view value) {
  const auto digits = value.find_first_not_of("0123456789");
  if (!is_number(value) || digits == 0) return false;
  return digits == value.npos || (value[digits] == '.' && value.find_first_not_of('0', digits + 1) == value.npos);
}

}  // namespace mcpbx::providers::adapt
