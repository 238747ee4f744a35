// Implements the seal with OpenSSL.
#include "mcp/seal/state_seal.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>

namespace mcpbx::mcp {
namespace {

constexpr std::string_view family = "mcpbx.";
constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::size_t id_digits = 16, nonce_bytes = 12, tag_bytes = 16;
constexpr std::string_view digits64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
int length_of(std::string_view text) {
  return static_cast<int>(text.size());
}

std::string to_base64url(std::string_view bytes) {
  std::string out;
  unsigned bits = 0, held = 0;
  for (const unsigned char byte : bytes) {
    held = held << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) out += digits64[held >> (bits - 6) & 63];
  }
  if (bits > 0) out += digits64[held << (6 - bits) & 63];
  return out;
}

/// Returns false unless the text is the only spelling of its bytes.
bool from_base64url(std::string_view text, std::string& out) {
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    const auto digit = digits64.find(c);
    if (digit == std::string_view::npos) return false;
    held = (held << 6 | static_cast<unsigned>(digit)) & 0xFFFFU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xFFU);
  }
  return bits < 6 && (held & ((1U << bits) - 1U)) == 0;
}

}  // namespace

state_seal::~state_seal() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

result<void> state_seal::make_key() {
  if (!mark_.empty()) return {};
  std::array<unsigned char, id_digits / 2> id{};
  if (RAND_priv_bytes(key_.data(), static_cast<int>(key_.size())) != 1 ||
      RAND_bytes(id.data(), static_cast<int>(id.size())) != 1)
    return fail(errc::internal, "the system gives no random bytes for a key");
  mark_ = family;
  for (const unsigned char byte : id) {
    mark_ += hex_digits[byte >> 4];
    mark_ += hex_digits[byte & 0xF];
  }
  mark_ += '.';
  return {};
}

result<std::string> state_seal::close(std::string_view plain) {
  if (plain.size() > most_bytes) return fail(errc::limit, "too many bytes to seal");
  if (auto made = make_key(); !made) return std::unexpected(made.error());
  std::string sealed(nonce_bytes + plain.size() + tag_bytes, '\0');
  unsigned char* const out = bytes_of(sealed);
  const cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int written = 0, ended = 0;
  // The mark is authenticated as well, so that a text cannot be moved under another one.
  if (!c || RAND_bytes(out, nonce_bytes) != 1 ||
      EVP_EncryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, key_.data(), out) != 1 ||
      EVP_EncryptUpdate(c.get(), nullptr, &written, bytes_of(std::string_view(mark_)), length_of(mark_)) != 1 ||
      EVP_EncryptUpdate(c.get(), out + nonce_bytes, &written, bytes_of(plain), length_of(plain)) != 1 ||
      EVP_EncryptFinal_ex(c.get(), out + nonce_bytes + written, &ended) != 1 ||
      EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, out + nonce_bytes + plain.size()) != 1)
    return fail(errc::internal, "OpenSSL cannot encrypt");
  return mark_ + to_base64url(sealed);
}

result<std::string> state_seal::open(std::string_view text) const {
  const auto refuse = [] { return fail(errc::invalid_argument, "it was not made by this process, or was changed"); };
  std::string sealed;
  if (!claims(text) || text.size() > longest_text || !from_base64url(text.substr(mark_.size()), sealed) ||
      sealed.size() < nonce_bytes + tag_bytes)
    return refuse();
  const std::size_t size = sealed.size() - nonce_bytes - tag_bytes;
  std::string plain(size + tag_bytes, '\0');
  unsigned char* const in = bytes_of(sealed);
  const cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int written = 0, ended = 0;
  if (!c || EVP_DecryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, key_.data(), in) != 1 ||
      EVP_DecryptUpdate(c.get(), nullptr, &written, bytes_of(std::string_view(mark_)), length_of(mark_)) != 1 ||
      EVP_DecryptUpdate(c.get(), bytes_of(plain), &written, in + nonce_bytes, static_cast<int>(size)) != 1 ||
      EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, in + nonce_bytes + size) != 1 ||
      EVP_DecryptFinal_ex(c.get(), bytes_of(plain) + written, &ended) != 1)
    return refuse();
  plain.resize(size);
  return plain;
}

bool state_seal::claims(std::string_view text) const {
  return !mark_.empty() && text.starts_with(mark_);
}

bool state_seal::has_form(std::string_view text) {
  if (!text.starts_with(family)) return false;
  text.remove_prefix(family.size());
  return text.size() > id_digits && text[id_digits] == '.' &&
         std::ranges::all_of(text.substr(0, id_digits),
                             [](char c) { return hex_digits.find(c) != std::string_view::npos; });
}

std::string state_seal::digest(std::string_view text) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), bytes_of(out), &size, EVP_sha256(), nullptr) != 1) size = 0;
  out.resize(size);
  return out;
}

}  // namespace mcpbx::mcp
