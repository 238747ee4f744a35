// Assertions: signed tokens by which a client proves itself (private_key_jwt, RFC 7523, section 2.2), and those of
// others that stand for a program (section 2.1), as far as a client has to look at them.
#pragma once
#include "mcp/auth/client_identity.hpp"
#include "mcp/auth/pkce.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::auth {

/// The private key of a client. Empty: it has none.
struct client_key {
  redact::secret pem = {};
  std::string id = {};  ///< `kid` under which the authorization server knows the key, or ""
};

/// Returns an assertion of the client for one authorization server, which holds for a minute. errc::config: the key
/// cannot be used.
result<std::string> client_assertion(const client_key& key, std::string_view client_id, std::string_view issuer,
                                     std::int64_t wall_ms, secret_source& random);

/// A client before the token endpoint of an issuer, with its token_auth_method().
struct token_client {
  const client_identity& client;
  std::string_view method, issuer;
  const client_key& key;
};
/// Adds what the method wants to a request at the token endpoint: add_client(), and an assertion that is signed now.
/// errc::config: see client_assertion().
result<void> prove_client(const token_client& who, std::int64_t wall_ms, secret_source& random, form_fields& body,
                          std::vector<http::header>& headers);

/// Checks that a signed token of somebody else is for this authorization server: its `aud` is the issuer, with or
/// without a slash at its end, or the token endpoint. Any other server could use it in our place. The signature is the
/// server's matter. errc::config with a clause about the token.
result<void> check_audience(std::string_view token, std::string_view issuer, std::string_view token_endpoint);

}  // namespace mcpbx::auth
