// How much room a text takes as a JSON string, for what is made in one piece of its size.
#pragma once
#include <cstddef>
#include <string_view>

namespace mcpbx {

/// The bytes that append_quoted() appends.
std::size_t quoted_size(std::string_view text);

}  // namespace mcpbx
