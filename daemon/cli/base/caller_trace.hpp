// The trace to which this command belongs, as programs that start others say it: TRACEPARENT and TRACESTATE in the
// environment (OpenTelemetry, "Environment Variables as Context Propagation Carriers").
#pragma once
#include "mcp/trace/trace_context.hpp"

namespace mcpbx::cli {

/// Returns the trace of the environment. One that is not valid is none.
trace::trace_context caller_trace();

}  // namespace mcpbx::cli
