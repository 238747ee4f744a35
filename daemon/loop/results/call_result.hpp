// Turns the outcome of a call at a server, also a failure, into the result that is recorded and shown to the model.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/trace/trace_context.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::daemon::results {

/// Returns the record for this outcome. `tool` (as the model knows it) and `server` are for messages. `lost`: number of
/// attempts, this one included, that were sent and got no answer; each of them may have taken effect.
stored::record::call_result to_call_result(std::string call_id, const mcp::rpc::call_outcome& outcome,
                                           std::string_view tool, std::string_view server, std::int64_t ms, int lost);

/// Returns the parameters of a tools/call request. `own_name` is the server's own name of the tool; `arguments` are
/// passed byte for byte, or as {} if absent; `trace` goes into `_meta`, if there is one.
json::raw_json call_params(std::string_view own_name, const json::raw_json& arguments,
                           const trace::trace_context& trace = {});

}  // namespace mcpbx::daemon::results
