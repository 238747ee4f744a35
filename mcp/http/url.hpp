// The parts of an http(s) address, cut by hand: it happens for every exchange.
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
  std::string target;     ///< path and query, never empty
  std::string origin;     ///< "https://host:port", what connections are pooled by
  std::string authority;  ///< what the Host header says
};

/// errc::invalid_argument, naming what is wrong; the text of the address is shown without its query, which may hold a
/// key.
result<url_parts> parse_url(std::string_view url);

}  // namespace mcpbx::http
