// A grant: the tokens for one server from one authorization server, with the client they were given to, and its form on
// disk. A grant is used at its own issuer and its own resource only.
#pragma once
#include "mcp/auth/client_identity.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth {

struct grant {
  std::string issuer = {}, resource = {}, token_endpoint = {};
  client_identity client = {};
  std::string method = {};  ///< token_auth_method() at the time of the grant
  redact::secret access_token = {}, refresh_token = {};
  std::int64_t expires_at_ms = -1;       ///< of the access token, in milliseconds since 1970; -1: not told
  std::vector<std::string> scopes = {};  ///< asked for, or granted if the server told

  bool empty() const noexcept { return access_token.empty() && refresh_token.empty(); }
  /// Returns true if the access token should be renewed before it is used: it has ended, or ends within a
  /// minute.
  bool wants_renewal(std::int64_t now_ms) const noexcept;
};

/// Reads a token endpoint's answer (RFC 6749, section 5.1) into `g`: tokens, end, scopes. A missing refresh token keeps
/// the one before. errc::protocol: no Bearer token.
result<void> take_token_answer(const json::raw_json& answer, std::int64_t now_ms, grant& g);

/// Returns the JSON object of a grant, with its secrets.
std::string grant_json(const grant& g);
/// Reads it. errc::parse: it is none.
result<grant> read_grant(const json::raw_json& json);

}  // namespace mcpbx::auth
