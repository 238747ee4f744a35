// Finds the key, and encrypts with it.
#include "daemon/guard/credentials/credential_key.hpp"

#include "daemon/guard/state_file.hpp"
#include "mcp/crypto/sealed_bytes.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/text.hpp"

namespace mcpbx::daemon::credentials {
namespace {

constexpr std::size_t longest_source = 64u << 10;

// The secret may have any length; its hash has 32 bytes.
std::string key_bytes(std::string_view secret) {
  return crypto::sha256("mcpbx credentials\n" + std::string(secret));
}

}  // namespace

std::string_view to_string(key_place place) {
  switch (place) {
    case key_place::systemd:
      return "systemd";
    case key_place::secret_service:
      return "secret-service";
    case key_place::none:
      break;
  }
  return "none";
}

result<credential_key> find_credential_key(const std::string& folder,
                                           const std::function<result<std::string>()>& from_secret_service) {
  if (!folder.empty()) {
    const auto read = guard::read_state_file(folder + "/mcpbx-credentials", longest_source);
    if (!read) return std::unexpected(read.error());
    if (*read && trimmed(**read).size() >= 16) return credential_key{key_place::systemd, key_bytes(trimmed(**read))};
    if (*read)
      return fail(errc::io, folder + "/mcpbx-credentials has less than 16 bytes, which is too little for a key");
  }
  if (const auto secret = from_secret_service(); secret && !secret->empty())
    return credential_key{key_place::secret_service, key_bytes(*secret)};
  return credential_key{};
}

result<std::string> encrypted(const credential_key& key, std::string_view about, std::string_view plain) {
  const auto bytes = crypto::sealed(key.bytes, about, plain);
  if (!bytes) return std::unexpected(bytes.error());
  return hex_text(*bytes);
}

result<std::string> decrypted(const credential_key& key, std::string_view about, std::string_view text) {
  const auto bytes = hex_bytes(text);
  if (!bytes) return fail(errc::parse, "is no hexadecimal text");
  return crypto::unsealed(key.bytes, about, *bytes);
}

}  // namespace mcpbx::daemon::credentials
