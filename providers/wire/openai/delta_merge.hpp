// Merges deltas of one JSON value as EPAM DIAL defines it for `custom_content`: appends texts and lists, merges objects
// and list elements with an `index`, replaces all else.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::providers::openai {

/// Returns the value that the checked `deltas` give in their order; "" for none. Null changes nothing.
std::string merged_deltas(std::span<const std::string> deltas);

/// Removes the member `index` from the elements of all lists, because values that are sent back have none.
std::string without_indexes(std::string_view value);

}  // namespace mcpbx::providers::openai
