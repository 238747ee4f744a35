// Key derivation and authenticated encryption by OpenSSL.
#include "daemon/guard/credentials/credential_key.hpp"

#include "daemon/guard/sha256.hpp"
#include "daemon/guard/state_file.hpp"
#include "mcp/support/text.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <memory>

namespace mcpbx::daemon {
namespace {

constexpr std::size_t nonce_bytes = 12, tag_bytes = 16, longest_source = 64u << 10;
constexpr std::string_view hex_digits = "0123456789abcdef";

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

int hex_value(char c) {
  const auto at = hex_digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (const unsigned char b : bytes) {
    out += hex_digits[b >> 4];
    out += hex_digits[b & 0xF];
  }
  return out;
}

result<std::string> from_hex(std::string_view text) {
  std::string out;
  if (text.size() % 2 != 0) return fail(errc::parse, "is no hexadecimal text");
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]), low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return fail(errc::parse, "is no hexadecimal text");
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

// The secret may have any length; its hash has 32 bytes.
std::string key_bytes(std::string_view secret) {
  return from_hex(sha256_hex("mcpbx credentials\n" + std::string(secret))).value();
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
    const auto read = read_state_file(folder + "/mcpbx-credentials", longest_source);
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
  std::string out(nonce_bytes + plain.size() + tag_bytes, '\0');
  const cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int written = 0, ended = 0;
  if (!c || key.bytes.size() != 32 || RAND_bytes(raw(out), nonce_bytes) != 1 ||
      EVP_EncryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, raw(std::string_view(key.bytes)), raw(out)) != 1 ||
      EVP_EncryptUpdate(c.get(), nullptr, &written, raw(about), length(about)) != 1 ||
      EVP_EncryptUpdate(c.get(), raw(out) + nonce_bytes, &written, raw(plain), length(plain)) != 1 ||
      EVP_EncryptFinal_ex(c.get(), raw(out) + nonce_bytes + written, &ended) != 1 ||
      EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, raw(out) + nonce_bytes + plain.size()) != 1)
    return fail(errc::internal, "OpenSSL cannot encrypt");
  return to_hex(out);
}

result<std::string> decrypted(const credential_key& key, std::string_view about, std::string_view text) {
  auto sealed = from_hex(text);
  if (!sealed) return std::unexpected(sealed.error());
  if (sealed->size() < nonce_bytes + tag_bytes) return fail(errc::parse, "is too short");
  const std::size_t size = sealed->size() - nonce_bytes - tag_bytes;
  std::string plain(size, '\0');
  const cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int written = 0, ended = 0;
  if (!c || key.bytes.size() != 32 ||
      EVP_DecryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, raw(std::string_view(key.bytes)), raw(*sealed)) != 1 ||
      EVP_DecryptUpdate(c.get(), nullptr, &written, raw(about), length(about)) != 1 ||
      EVP_DecryptUpdate(c.get(), raw(plain), &written, raw(*sealed) + nonce_bytes, static_cast<int>(size)) != 1 ||
      EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, raw(*sealed) + nonce_bytes + size) != 1 ||
      EVP_DecryptFinal_ex(c.get(), raw(plain) + written, &ended) != 1)
    return fail(errc::parse, "was encrypted with another key, or changed");
  return plain;
}

}  // namespace mcpbx::daemon
