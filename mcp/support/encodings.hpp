// Bytes as text: hexadecimal digits and base64 (RFC 4648). Percent-encoding has a file of its own (percent.hpp).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx {

/// Returns two lower-case hexadecimal digits for each byte.
std::string hex_text(std::string_view bytes);
/// Returns the bytes of such a text, nullopt for any other; capitals are none.
std::optional<std::string> hex_bytes(std::string_view text);

/// Returns bytes as base64 with padding (section 4).
std::string base64(std::string_view bytes);
/// Returns bytes as base64url without padding (section 5).
std::string base64url(std::string_view bytes);

/// Decodes base64 with padding; nullopt: malformed. Bits that no byte takes must be zero, so that each value has one
/// text.
std::optional<std::string> base64_bytes(std::string_view text);
/// Decodes base64url without padding; nullopt: malformed. Each value has one text here, too.
std::optional<std::string> base64url_bytes(std::string_view text);
/// Decodes base64 of strangers: either alphabet, with or without padding, line breaks skipped; nullopt: malformed.
std::optional<std::string> lenient_base64_bytes(std::string_view text);

}  // namespace mcpbx
