// The parts of an http(s) or Unix-socket address: which ones are allowed, and what one without a path means.
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
  std::string socket;     ///< of unix: addresses, the path of the socket (then `host` is "localhost"); else empty
  std::string target;     ///< path and query, never empty
  std::string origin;     ///< "https://host:port" or "unix:/path", what connections are pooled by
  std::string authority;  ///< what the Host header says
  std::string label;      ///< what sentences call it: the authority, or "unix:/path"
};

/// http://…, https://…, or unix:/PATH/OF/SOCKET, behind which :/PATH?QUERY may stand for the server there.
/// errc::invalid_argument, naming what is wrong; the text of the address is shown without its query, which may hold a
/// key.
result<url_parts> parse_url(std::string_view url);

/// `base` as something that a path can be appended to: a bare unix:/PATH/OF/SOCKET gets its ":/".
std::string appendable(std::string_view base);

}  // namespace mcpbx::http
