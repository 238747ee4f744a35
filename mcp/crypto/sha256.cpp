// SHA-256 by OpenSSL's old functions. They are deprecated, but the new ones load OpenSSL's providers first, which would
// cost a daemon without TLS 2 MiB for its whole life.
#include "mcp/crypto/sha256.hpp"

#include "mcp/support/encodings.hpp"

#include <openssl/sha.h>

#include <stdexcept>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace mcpbx::crypto {

std::string sha256(std::string_view text) {
  SHA256_CTX state;
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  if (SHA256_Init(&state) != 1 || SHA256_Update(&state, text.data(), text.size()) != 1 ||
      SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &state) != 1)
    throw std::runtime_error("OpenSSL gives no SHA-256");
  return digest;
}

std::string sha256_hex(std::string_view text) {
  return hex_text(sha256(text));
}

}  // namespace mcpbx::crypto

#pragma GCC diagnostic pop
