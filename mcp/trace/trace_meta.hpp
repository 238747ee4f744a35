// The trace of a request as members of `_meta`, which have no prefix there (MCP, SEP-414). No I/O.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/trace/trace_context.hpp"

namespace mcpbx::trace {

/// Reads the trace of a request's `_meta`, which may be absent or of any kind. A trace that is not valid is none.
trace_context trace_in_meta(const json::raw_json& meta);
/// Writes `_meta` with the trace as a member of the params that are being written; nothing if there is no trace.
void append_trace_meta(json::json_writer& params, const trace_context& trace);

}  // namespace mcpbx::trace
