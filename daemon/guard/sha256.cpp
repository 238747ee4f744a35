// SHA-256 by OpenSSL's old functions. They are deprecated, but the new ones load OpenSSL's providers first, which would
// cost a daemon without TLS 2 MiB for its whole life.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "daemon/guard/sha256.hpp"

#include <openssl/sha.h>

#include <array>
#include <stdexcept>

namespace mcpbx::daemon {

std::string sha256_hex(std::string_view text) {
  SHA256_CTX state;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  if (SHA256_Init(&state) != 1 || SHA256_Update(&state, text.data(), text.size()) != 1 ||
      SHA256_Final(digest.data(), &state) != 1)
    throw std::runtime_error("OpenSSL gives no SHA-256");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    out += digits[byte >> 4];
    out += digits[byte & 0xF];
  }
  return out;
}

}  // namespace mcpbx::daemon
