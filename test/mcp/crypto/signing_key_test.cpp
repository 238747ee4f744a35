// Signatures are verified by OpenSSL's other half; keys that must not be used are refused without a word of them.
#include "mcp/crypto/signing_key.hpp"

#include <doctest/doctest.h>
#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::crypto;
using key_pointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

key_pointer curve(const char* name) {
  return {EVP_EC_gen(name), EVP_PKEY_free};
}
key_pointer rsa(unsigned int bits) {
  return {EVP_RSA_gen(bits), EVP_PKEY_free};
}

std::string pem_of(EVP_PKEY* key, const char* passphrase = nullptr) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  REQUIRE(PEM_write_bio_PKCS8PrivateKey(out.get(), key, passphrase != nullptr ? EVP_aes_128_cbc() : nullptr, passphrase,
                                        passphrase != nullptr ? 3 : 0, nullptr, nullptr) == 1);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

// Turns r and s into the DER form that OpenSSL verifies.
std::string der_of(std::string_view pair) {
  ECDSA_SIG* const made = ECDSA_SIG_new();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(pair.data());
  ECDSA_SIG_set0(made, BN_bin2bn(bytes, 32, nullptr), BN_bin2bn(bytes + 32, 32, nullptr));
  std::string out(128, '\0');
  auto* at = reinterpret_cast<unsigned char*>(out.data());
  out.resize(static_cast<std::size_t>(i2d_ECDSA_SIG(made, &at)));
  ECDSA_SIG_free(made);
  return out;
}

bool verifies(EVP_PKEY* key, const std::string& signature, std::string_view text) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> c(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(c.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
         EVP_DigestVerify(c.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

TEST_CASE("signing_key: ES256 signs with the two numbers of 32 bytes each") {
  const auto key = curve("P-256");
  const auto made = signing_key::from_pem(pem_of(key.get()));
  REQUIRE(made);
  CHECK(made->algorithm() == "ES256");
  for (int i = 0; i < 50; ++i) {  // numbers with leading zeros occur in one of 128
    const auto signature = made->sign("header.claims");
    REQUIRE(signature);
    CHECK(signature->size() == 64);
    CHECK(verifies(key.get(), der_of(*signature), "header.claims"));
    CHECK_FALSE(verifies(key.get(), der_of(*signature), "header.other"));
  }
}

TEST_CASE("signing_key: RS256 signs with PKCS 1 padding") {
  const auto key = rsa(2048);
  const auto made = signing_key::from_pem(pem_of(key.get()));
  REQUIRE(made);
  CHECK(made->algorithm() == "RS256");
  CHECK(verifies(key.get(), made->sign("header.claims").value(), "header.claims"));
}

TEST_CASE("signing_key: what cannot sign so is refused and the words have nothing of it") {
  const auto good = pem_of(curve("P-256").get());
  const std::string refused[] = {"",
                                 "canary",
                                 "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----\n",
                                 good.substr(0, good.size() / 2),
                                 std::string(100'000, 'x'),
                                 pem_of(curve("P-384").get()),
                                 pem_of(rsa(1024).get()),
                                 pem_of(curve("P-256").get(), "abc")};
  for (const auto& text : refused) {
    const auto made = signing_key::from_pem(text);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == errc::config);
    CHECK(made.error().message.find("canary") == std::string::npos);
  }
}

}  // namespace
