// SHA-256 by OpenSSL's old functions: they are deprecated, but the new ones load OpenSSL's providers first, which would
// cost a daemon without TLS 2 MiB for its whole life.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "mcp/auth/pkce.hpp"

#include "mcp/auth/form.hpp"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>
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
  SHA256_CTX state;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  if (SHA256_Init(&state) != 1 || SHA256_Update(&state, verifier.data(), verifier.size()) != 1 ||
      SHA256_Final(digest.data(), &state) != 1)
    throw std::runtime_error("OpenSSL gives no SHA-256");
  return base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace mcpbx::auth
