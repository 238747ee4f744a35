// Proof keys of one authorization (RFC 7636), and texts that nobody can guess.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::auth {

/// Interface to a source of secret random bytes, so that tests know them.
class secret_source {
 public:
  virtual ~secret_source() = default;
  /// Returns `count` random bytes.
  virtual std::string bytes(std::size_t count) = 0;
};

/// Returns OpenSSL's generator. It lives for ever. Its bytes() throws std::runtime_error if there is no randomness.
secret_source& system_secrets();

/// Returns 256 random bits as 43 characters of base64url.
std::string unguessable(secret_source& from);
/// Returns the code_challenge of a code_verifier by the method S256.
std::string s256_challenge(std::string_view verifier);

}  // namespace mcpbx::auth
