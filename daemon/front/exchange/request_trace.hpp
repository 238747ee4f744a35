// The trace that an HTTP request belongs to (W3C Trace Context). No I/O.
#pragma once
#include "mcp/http/header.hpp"
#include "mcp/trace/trace_context.hpp"

#include <vector>

namespace mcpbx::daemon::routes {

/// Returns the trace of the header fields `traceparent` and `tracestate`. Two fields `traceparent` count as none; those
/// of `tracestate` are joined in their order (section 3.3.1.1).
trace::trace_context trace_of(const std::vector<http::header>& headers);

}  // namespace mcpbx::daemon::routes
