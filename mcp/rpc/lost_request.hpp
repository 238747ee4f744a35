// A request of ours that a connection brings no answer for, while it may carry others on.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>

namespace mcpbx::mcp::rpc {

struct lost_request {
  std::int64_t id = 0;
  error why;            ///< a predicate of a sentence about the request: "got no answer: …"
  bool unseen = false;  ///< the peer surely has not looked at it, so that another session may send it again
};

}  // namespace mcpbx::mcp::rpc
