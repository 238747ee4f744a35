// Headers of requests to a model's endpoint: the source of credentials, and the precedence of headers.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/error.hpp"

#include <functional>
#include <vector>

namespace mcpbx::providers::call {

/// Calls its argument exactly once per request, now or later, on the speaking thread, with the headers that hold
/// credentials, such as `Authorization: Bearer …`. They replace our headers of the same name; of two the later one
/// wins. An error ends the call (kind configuration).
using credential_source = std::function<void(std::function<void(result<std::vector<http::header>>)>)>;

/// Adds `h`, or replaces the header of that name.
void put_header(std::vector<http::header>& headers, http::header h);

/// Registers the values with the redactor; of `Bearer KEY` only the key.
void register_credentials(const std::vector<http::header>& credentials);

}  // namespace mcpbx::providers::call
