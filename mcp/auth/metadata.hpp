// The documents by which a client finds out who authorizes for a server: protected-resource metadata (RFC 9728) and
// authorization-server metadata (RFC 8414, OpenID Connect Discovery 1.0), with the addresses where to look for them
// (2026-07-28, authorization server discovery). All of it is a stranger's text.
#pragma once
#include "mcp/auth/endpoint_rule.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth {

/// Bound in bytes on a document of an authorization.
inline constexpr std::size_t longest_document = std::size_t{1} << 20;

/// Returns the addresses of a server's protected-resource metadata, best first: that of the challenge alone if it has
/// one, else the well-known ones for the path and for the root.
std::vector<std::string> resource_metadata_addresses(std::string_view server_url, std::string_view challenged);

struct resource_metadata {
  std::string resource;                            ///< exactly as published
  std::vector<std::string> authorization_servers;  ///< issuers, at least one
  std::optional<std::vector<std::string>> scopes;  ///< scopes_supported
};

/// Reads the document. Fails with errc::protocol if it is not about this server: its `resource` must be the server's
/// address, or a path above it at the same origin (RFC 9728, section 3.3, as MCP uses it).
result<resource_metadata> read_resource_metadata(const json::raw_json& document, std::string_view server_url);

/// Returns the addresses of an issuer's metadata in the order in which MCP wants them tried.
std::vector<std::string> server_metadata_addresses(std::string_view issuer);

struct server_metadata {
  std::string issuer;
  std::string authorization_endpoint, token_endpoint, registration_endpoint;  ///< the last one may be ""
  std::optional<std::vector<std::string>> scopes;
  std::vector<std::string> auth_methods;  ///< token_endpoint_auth_methods_supported; empty: none given
  std::vector<std::string> grant_types;   ///< grant_types_supported; empty: none given
  bool takes_client_metadata = false;     ///< client_id_metadata_document_supported
  bool tells_issuer = false;              ///< authorization_response_iss_parameter_supported
  bool s256 = false;                      ///< code_challenge_methods_supported has S256

  bool lists_grant(std::string_view grant) const;
};

/// Reads the document. Fails with errc::protocol if its issuer is another one, an endpoint is missing or may not be
/// used by `rule`.
result<server_metadata> read_server_metadata(const json::raw_json& document, std::string_view issuer,
                                             const endpoint_rule& rule);

/// Returns the metadata that servers of 2025-03-26 without any document have: fixed paths at the server's origin.
server_metadata assumed_metadata(std::string_view server_url);
/// Returns the origin of an address ("https://host", without a default port), or "" if it is none.
std::string origin_text(std::string_view url);

}  // namespace mcpbx::auth
