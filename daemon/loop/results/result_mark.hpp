// Puts tool output between two marks that it cannot contain, so that the model can tell it from the words of people
// (docs/guarantees.md, G40).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string_view>

namespace mcpbx::daemon {

/// Returns `shown` between two marks with `nonce`. Removes the nonce and control, bidi and zero-width characters from
/// the texts. Keeps only content and isError; structured content without any other content becomes text. Pure.
raw_json marked_as_data(const raw_json& shown, std::string_view nonce);

}  // namespace mcpbx::daemon
