// mcpbx as a client of an authorization server: one that a person has registered, the address of a document about it,
// or a registration of its own (2026-07-28, client registration; RFC 7591).
#pragma once
#include "mcp/auth/form.hpp"
#include "mcp/auth/metadata.hpp"
#include "mcp/http/header.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth {

/// The ways to get a client id.
enum class identity_source : std::uint8_t {
  configured,  ///< from the server's entry
  document,    ///< the id is the address of a client-id metadata document
  registered   ///< by dynamic registration
};

struct client_identity {
  identity_source source = identity_source::configured;
  std::string id = {};
  redact::secret password = {};     ///< client_secret; empty: a public client
  std::int64_t expires_at_ms = -1;  ///< end of a registered secret in milliseconds since 1970; -1: never
  std::string method = {};          ///< token_endpoint_auth_method of the registration; "": as the server lists
  std::string redirect_uri = {};    ///< of the registration, or ""
  bool signs = false;               ///< it has a private key; not kept on disk
};

/// Returns the body of a registration (RFC 7591, section 2). `refresh`: the authorization server has refresh tokens.
std::string registration_body(std::string_view client_name, std::string_view redirect_uri, std::string_view scope,
                              const server_metadata& server, bool refresh);
/// Reads the answer. errc::protocol: it has no client_id.
result<client_identity> read_registration(const json::raw_json& answer);

/// Returns the method by which the client proves itself at the token endpoint: "private_key_jwt",
/// "client_secret_basic", "client_secret_post" or "none". Of those that the server lists the first that the client can
/// do, in this order; a server that lists none is taken to know what the client can do (client_secret_basic: RFC 8414).
std::string_view token_auth_method(const client_identity& client, const server_metadata& server);
/// Adds the parameters and headers of the method to a request at the token endpoint. The assertion of private_key_jwt
/// is left to prove_client().
void add_client(const client_identity& client, std::string_view method, form_fields& body,
                std::vector<http::header>& headers);

}  // namespace mcpbx::auth
