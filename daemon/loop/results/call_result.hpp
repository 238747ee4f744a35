// A server's answer, or the lack of one, as the one result of a call: what the journal keeps and the model is told.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/rpc/pending_calls.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// `tool` and `server` name the call in the model's words; `lost` is how many of its attempts, this one included, were
/// sent and got no answer: each may have taken effect.
record::call_result to_call_result(std::string call_id, const mcp::call_outcome& outcome, std::string_view tool,
                                   std::string_view server, std::int64_t ms, int lost);

/// The parameters of tools/call for `own_name`, the server's own name of the tool; `arguments` byte for byte.
raw_json call_params(std::string_view own_name, const raw_json& arguments);

}  // namespace mcpbx::daemon
