// Splits http(s) and Unix-socket addresses into parts. Says which are allowed, and what one without a path means.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::http {

struct url_parts {
  bool tls = false;
  std::string host;  ///< lower case, without the brackets of an IPv6 address
  std::uint16_t port = 80;
  std::string socket;     ///< path of the socket of a unix: address (`host` is "localhost" then); else empty
  std::string target;     ///< path and query, never empty
  std::string origin;     ///< "https://host:port" or "unix:/path"; connections are pooled by it
  std::string authority;  ///< value of the Host header
  std::string label;      ///< name in sentences: the authority, or "unix:/path"
};

/// Parses http://…, https://… or unix:/PATH/OF/SOCKET, the last perhaps followed by :/PATH?QUERY for the server there.
/// errc::invalid_argument names the fault and shows the address without its query, which may hold a key.
result<url_parts> parse_url(std::string_view url);

/// Returns `base` in a form to which a path can be appended: adds ":/" to a bare unix:/PATH/OF/SOCKET.
std::string appendable(std::string_view base);

}  // namespace mcpbx::http
