// Finds the codec of a model API.
#pragma once
#include "providers/wire/codec.hpp"

#include <string_view>

namespace mcpbx::providers {

/// Returns the codec of the API that a model entry names, or null for one that has none. It lives as long as the
/// program.
const codec* find_codec(std::string_view api);

}  // namespace mcpbx::providers
