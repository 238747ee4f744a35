// Unicode's general categories, for \p{…} in patterns.
#pragma once
#include <cstdint>
#include <string_view>

namespace mcpbx::providers::schema {

/// A set of general categories, one bit each.
using category_set = std::uint32_t;

/// Returns the categories of \p{name}: "L", "Lu", "Letter", "gc=L", "General_Category=Letter", "Any"; 0 for other
/// names.
category_set categories_named(std::string_view name);
/// Returns the bit of the category of `c`.
category_set category_of(char32_t c);

}  // namespace mcpbx::providers::schema
