// Deltas of one JSON value put together as EPAM DIAL defines it for `custom_content`: texts go on, objects and the
// elements of lists that carry an `index` are merged, other lists go on, anything else is replaced.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// The value that checked `deltas` give, in their order; "" for none. Null changes nothing.
std::string merged_deltas(std::span<const std::string> deltas);

/// `value` without the member `index` in the elements of its lists, at any depth: what is sent back has none.
std::string without_indexes(std::string_view value);

}  // namespace mcpbx::providers
