// Access control of HTTP requests (docs/guarantees.md, G43). The Unix socket checks its peers itself. A port is open to
// every program and web page of this machine, so requests there need the token, this machine as host, and no foreign
// page as origin. Pure.
#pragma once
#include "mcp/http/server/request_parser.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::front {

struct http_rules {
  bool on_port = false;  ///< false: the Unix socket, without these checks
  std::string token;     ///< required on a port, as Bearer or in x-api-key; "": none is
};

struct http_refusal {
  int status = 403;
  std::string message;  ///< a sentence with the remedy
};

/// Returns the reason to refuse a request with this head, or nothing. `without_token`: its path needs none.
std::optional<http_refusal> check_access(const http::servers::request_head& head, const http_rules& rules,
                                         bool without_token = false);

/// Returns true if a Host header ("127.0.0.1:8421", "localhost", "[::1]:80") names this machine.
bool is_this_machine(std::string_view host);

}  // namespace mcpbx::daemon::front
