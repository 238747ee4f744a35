// Signatures by OpenSSL's EVP functions. ECDSA signatures are taken out of their DER form: JSON Web Signatures have the
// two numbers as they are, one behind the other.
#include "mcp/crypto/signing_key.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <utility>

namespace mcpbx::crypto {
namespace {

constexpr std::size_t longest_pem = std::size_t{64} << 10;
constexpr int p256_bytes = 32, least_rsa_bits = 2048, most_rsa_bits = 8192;

// Refuses to ask for the passphrase of an encrypted key, which OpenSSL would do at the terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

EVP_PKEY* raw_key(const std::shared_ptr<void>& key) {
  return static_cast<EVP_PKEY*>(key.get());
}

unsigned char* raw_bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// Returns the form that JSON Web Signatures want of an ECDSA signature in DER; "" if it is none.
std::string two_numbers(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), ECDSA_SIG_free);
  std::string out(std::size_t{2} * p256_bytes, '\0');
  if (!pair || BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), raw_bytes(out), p256_bytes) != p256_bytes ||
      BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), raw_bytes(out) + p256_bytes, p256_bytes) != p256_bytes)
    return {};
  return out;
}

}  // namespace

result<signing_key> signing_key::from_pem(std::string_view pem) {
  if (pem.size() > longest_pem) return fail(errc::config, "is too long for a private key");
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                     BIO_free);
  signing_key made;
  made.key_ = std::shared_ptr<void>(in ? PEM_read_bio_PrivateKey(in.get(), nullptr, no_passphrase, nullptr) : nullptr,
                                    [](void* key) { EVP_PKEY_free(static_cast<EVP_PKEY*>(key)); });
  if (!made.key_) return fail(errc::config, "is no private key in PEM without a passphrase");
  EVP_PKEY* const key = raw_key(made.key_);
  std::string curve(64, '\0');
  std::size_t length = 0;
  if (EVP_PKEY_is_a(key, "EC") == 1 && EVP_PKEY_get_group_name(key, curve.data(), curve.size(), &length) == 1 &&
      std::string_view(curve).substr(0, length) == SN_X9_62_prime256v1)
    made.algorithm_ = "ES256";
  else if (EVP_PKEY_is_a(key, "RSA") == 1 && EVP_PKEY_get_bits(key) >= least_rsa_bits &&
           EVP_PKEY_get_bits(key) <= most_rsa_bits)
    made.algorithm_ = "RS256";
  else
    return fail(errc::config, "is a key of another kind than P-256 and RSA of 2048 bits or more");
  return made;
}

result<std::string> signing_key::sign(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> c(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t length = 0;
  std::string out;
  bool good = c && EVP_DigestSignInit(c.get(), nullptr, EVP_sha256(), nullptr, raw_key(key_)) == 1 &&
              EVP_DigestSign(c.get(), nullptr, &length, bytes, text.size()) == 1;
  if (good) {
    out.resize(length);
    good = EVP_DigestSign(c.get(), raw_bytes(out), &length, bytes, text.size()) == 1;
    out.resize(length);
  }
  if (good && algorithm_ == "ES256") out = two_numbers(out);
  if (!good || out.empty()) return fail(errc::internal, "OpenSSL gives no signature");
  return out;
}

}  // namespace mcpbx::crypto
