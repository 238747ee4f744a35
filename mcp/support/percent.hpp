// Percent-encoding in URLs (RFC 3986, section 2.1).
#pragma once
#include <string>
#include <string_view>

namespace mcpbx {

/// Replaces each `%XX` by its byte. A `%` without two hexadecimal digits behind it stays.
std::string percent_decoded(std::string_view text);

}  // namespace mcpbx
