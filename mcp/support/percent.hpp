// Percent-encoding in URLs (RFC 3986, section 2.1).
#pragma once
#include <string>
#include <string_view>

namespace mcpbx {

/// Replaces each `%XX` by its byte. A `%` without two hexadecimal digits behind it stays.
std::string percent_decoded(std::string_view text);
/// Writes each byte as `%XX` but letters, digits, "-", ".", "_", "~" (section 2.3) and the characters of `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = "");

}  // namespace mcpbx
