// A private key that signs texts as JSON Web Signatures want it (RFC 7518, section 3): ES256 or RS256, by OpenSSL.
#pragma once
#include "mcp/support/error.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::crypto {

class signing_key {
 public:
  /// Reads a private key in PEM: on the curve P-256, or RSA of 2048 to 8192 bits. errc::config: it is none, is
  /// encrypted, or is of another kind. The error holds nothing of the text.
  static result<signing_key> from_pem(std::string_view pem);

  /// Returns "ES256" or "RS256".
  std::string_view algorithm() const noexcept { return algorithm_; }
  /// Returns the signature of the text's SHA-256. errc::internal: OpenSSL fails.
  result<std::string> sign(std::string_view text) const;

 private:
  std::shared_ptr<void> key_;  // an EVP_PKEY
  std::string_view algorithm_;
};

}  // namespace mcpbx::crypto
