// Decides who may ask over HTTP (docs/guarantees.md, G43). The Unix socket has checked its peers itself. Every program
// and every web page of this machine reaches a port of it, so there a request names the token, this machine as its
// host, and no page of elsewhere as its origin. Pure.
#pragma once
#include "mcp/http/server/request_parser.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

struct http_rules {
  bool on_port = false;  ///< false: the Unix socket, where none of this is asked
  std::string token;     ///< asked for on a port; "": none is
};

struct http_refusal {
  int status = 403;
  std::string message;  ///< a sentence with the mend
};

/// Whether a request with this head may be answered.
std::optional<http_refusal> check_access(const http::request_head& head, const http_rules& rules);

/// Whether a host, as the Host header has it ("127.0.0.1:8421", "localhost", "[::1]:80"), is this machine.
bool is_this_machine(std::string_view host);

}  // namespace mcpbx::daemon
