// Authenticated encryption with AES-256-GCM (NIST SP 800-38D): bytes that nobody without the key can read or change.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::crypto {

/// Bytes of a key.
inline constexpr std::size_t seal_key_bytes = 32;
/// Bytes that sealing adds: the nonce in front and the tag behind.
inline constexpr std::size_t seal_extra_bytes = 12 + 16;

/// Encrypts `plain` under a fresh nonce and returns nonce, ciphertext and tag. `about` is authenticated as well, so
/// that the bytes cannot be moved to another place. errc::internal: the key has another size, or OpenSSL fails.
result<std::string> sealed(std::string_view key, std::string_view about, std::string_view plain);
/// Returns the plain bytes. errc::parse: another key, another `about`, or changed bytes. Safe on any bytes.
result<std::string> unsealed(std::string_view key, std::string_view about, std::string_view bytes);

}  // namespace mcpbx::crypto
