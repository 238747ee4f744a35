// See sha256.hpp.
#include "daemon/guard/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace mcpbx::daemon {

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // It can only fail where OpenSSL itself is broken or out of memory.
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL gives no SHA-256");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(std::size_t{2} * size);
  for (unsigned i = 0; i < size; ++i) {
    out += digits[digest[i] >> 4];
    out += digits[digest[i] & 0xF];
  }
  return out;
}

}  // namespace mcpbx::daemon
