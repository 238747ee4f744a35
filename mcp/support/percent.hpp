// Percent-encoding in URLs (RFC 3986, section 2.1).
#pragma once
#include <string>
#include <string_view>

namespace mcpbx {

/// `text` with each `%XX` replaced by its byte; a `%` without two hexadecimal digits behind it stays.
std::string percent_decoded(std::string_view text);

}  // namespace mcpbx
