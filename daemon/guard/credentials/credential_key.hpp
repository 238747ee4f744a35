// The key that the file of credentials is encrypted with: from systemd, or from the desktop's Secret Service. Without
// either the file is not encrypted, and says so. All functions block; call them on a lane.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::credentials {

/// The places that a key comes from.
enum class key_place : std::uint8_t { none, systemd, secret_service };
/// Returns the word in the file ("systemd").
std::string_view to_string(key_place place);

struct credential_key {
  key_place place = key_place::none;
  std::string bytes;  ///< 32 bytes; empty without a key
};

/// Finds the key. `folder` is systemd's folder of credentials or "": its file `mcpbx-credentials` is the key's source.
/// `from_secret_service` returns the secret that the Secret Service keeps, made there if there was none, or an error if
/// there is no such service. errc::io: systemd's file is there and cannot be read, so that nothing may be written.
result<credential_key> find_credential_key(const std::string& folder,
                                           const std::function<result<std::string>()>& from_secret_service);

/// Encrypts with AES-256-GCM under a fresh nonce; returns hexadecimal digits. `about` is authenticated as well.
/// errc::internal: OpenSSL fails.
result<std::string> encrypted(const credential_key& key, std::string_view about, std::string_view plain);
/// Decrypts. errc::parse: another key, another `about`, or changed text.
result<std::string> decrypted(const credential_key& key, std::string_view about, std::string_view text);

}  // namespace mcpbx::daemon::credentials
