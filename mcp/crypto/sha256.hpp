// SHA-256 of a text, as OpenSSL computes it: for what must not be forged. (Names and cache keys have stable_hash.)
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::crypto {

/// Returns the hash as 32 bytes. Throws std::runtime_error if OpenSSL gives none.
std::string sha256(std::string_view text);
/// Returns the hash as 64 lower-case hexadecimal digits. Throws as sha256() does.
std::string sha256_hex(std::string_view text);

}  // namespace mcpbx::crypto
