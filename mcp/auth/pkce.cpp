// PKCE and texts that nobody guesses.
#include "mcp/auth/pkce.hpp"

#include "mcp/crypto/sha256.hpp"
#include "mcp/support/encodings.hpp"

#include <openssl/rand.h>

#include <stdexcept>

namespace mcpbx::auth {
namespace {

class openssl_secrets final : public secret_source {
 public:
  std::string bytes(std::size_t count) override {
    std::string out(count, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count)) != 1)
      throw std::runtime_error("OpenSSL gives no random bytes");
    return out;
  }
};

}  // namespace

secret_source& system_secrets() {
  static openssl_secrets secrets;
  return secrets;
}

std::string unguessable(secret_source& from) {
  return base64url(from.bytes(32));
}

std::string s256_challenge(std::string_view verifier) {
  return base64url(crypto::sha256(verifier));
}

}  // namespace mcpbx::auth
