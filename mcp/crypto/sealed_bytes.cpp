// AES-256-GCM by OpenSSL.
#include "mcp/crypto/sealed_bytes.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <limits>
#include <memory>

namespace mcpbx::crypto {
namespace {

constexpr std::size_t nonce_bytes = 12, tag_bytes = 16;
static_assert(nonce_bytes + tag_bytes == seal_extra_bytes);

using cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

unsigned char* raw(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
int length(std::string_view text) {
  return static_cast<int>(text.size());
}
bool fits(std::string_view text) {
  return text.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) - seal_extra_bytes;
}

}  // namespace

result<std::string> sealed(std::string_view key, std::string_view about, std::string_view plain) {
  if (key.size() != seal_key_bytes || !fits(about) || !fits(plain))
    return fail(errc::internal, "a key of 32 bytes and texts under 2 GiB are needed to encrypt");
  std::string out(nonce_bytes + plain.size() + tag_bytes, '\0');
  const cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int written = 0, ended = 0;
  if (!c || RAND_bytes(raw(out), nonce_bytes) != 1 ||
      EVP_EncryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, raw(key), raw(out)) != 1 ||
      EVP_EncryptUpdate(c.get(), nullptr, &written, raw(about), length(about)) != 1 ||
      EVP_EncryptUpdate(c.get(), raw(out) + nonce_bytes, &written, raw(plain), length(plain)) != 1 ||
      EVP_EncryptFinal_ex(c.get(), raw(out) + nonce_bytes + written, &ended) != 1 ||
      EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, raw(out) + nonce_bytes + plain.size()) != 1)
    return fail(errc::internal, "OpenSSL cannot encrypt");
  return out;
}

result<std::string> unsealed(std::string_view key, std::string_view about, std::string_view bytes) {
  if (key.size() != seal_key_bytes || bytes.size() < seal_extra_bytes || !fits(about) || !fits(bytes))
    return fail(errc::parse, "is too short");
  const std::size_t size = bytes.size() - nonce_bytes - tag_bytes;
  std::string plain(size, '\0'), tag(bytes.substr(nonce_bytes + size));
  const cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  unsigned char none = 0;
  int written = 0, ended = 0;
  if (!c || EVP_DecryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, raw(key), raw(bytes)) != 1 ||
      EVP_DecryptUpdate(c.get(), nullptr, &written, raw(about), length(about)) != 1 ||
      EVP_DecryptUpdate(c.get(), raw(plain), &written, raw(bytes) + nonce_bytes, static_cast<int>(size)) != 1 ||
      EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, raw(tag)) != 1 ||
      EVP_DecryptFinal_ex(c.get(), &none, &ended) != 1)
    return fail(errc::parse, "was encrypted with another key, or changed");
  return plain;
}

}  // namespace mcpbx::crypto
