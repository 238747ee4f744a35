// Sets tool output apart from the words of people: it stands between two marks that it cannot contain
// (docs/guarantees.md, G40).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string_view>

namespace mcpbx::daemon {

/// `shown` between a mark that names `nonce` and its end. Inside, texts lose control, bidi and zero-width characters
/// and the nonce itself, so that nothing in there can close the mark. Of members other than content and isError nothing
/// is left: structured content that stands alone becomes text. Pure.
raw_json marked_as_data(const raw_json& shown, std::string_view nonce);

}  // namespace mcpbx::daemon
