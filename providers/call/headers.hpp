// The headers of requests to a model's endpoint: where credentials come from, and which header wins.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/error.hpp"

#include <functional>
#include <vector>

namespace mcpbx::providers {

/// Gives the headers that hold credentials, such as `Authorization: Bearer …`, at once or later, on the speaking
/// thread, exactly once per request. A header replaces one of ours of the same name, a later one an earlier. References
/// are resolved elsewhere. An error ends the call (kind configuration).
using credential_source = std::function<void(std::function<void(result<std::vector<http::header>>)>)>;

/// Adds `h`, in place of one with its name.
void put_header(std::vector<http::header>& headers, http::header h);

/// Makes the values known to the redactor: of `Bearer KEY` the key.
void register_credentials(const std::vector<http::header>& credentials);

}  // namespace mcpbx::providers
