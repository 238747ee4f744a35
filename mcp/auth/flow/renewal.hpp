// Renews the access token of a grant by its refresh token (RFC 6749, section 6). Pure functions.
#pragma once
#include "mcp/auth/client_assertion.hpp"
#include "mcp/auth/flow/document_request.hpp"
#include "mcp/auth/grant.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>

namespace mcpbx::auth::flow {

/// Returns the request. `key` signs for a client that proves itself so. errc::not_found: the grant has no refresh
/// token, or its client's secret has ended; errc::config: the key cannot be used.
result<document_request> renewal_request(const grant& g, std::int64_t wall_ms, const client_key& key = {},
                                         secret_source& random = system_secrets());
/// Takes the answer: returns the renewed grant. errc::peer: the server does not renew it, so that a person has to log
/// in again; errc::unavailable: it may work later; errc::protocol: no token answer.
result<grant> renewed(const grant& g, const document_answer& answer, std::int64_t wall_ms);

}  // namespace mcpbx::auth::flow
