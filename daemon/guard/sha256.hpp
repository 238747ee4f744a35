// SHA-256 of a text, as OpenSSL computes it: for what must not be forged. (Names and cache keys have stable_hash.)
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// Returns the hash as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace mcpbx::daemon
