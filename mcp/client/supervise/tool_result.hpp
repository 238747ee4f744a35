// Checks the shape of a tool server's answer to tools/call before it is passed on (docs/guarantees.md, G14).
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/support/error.hpp"

#include <optional>

namespace mcpbx::mcp::supervise {

/// Results beside complete ones that the caller understands.
struct accepted_results {
  bool input_required = false;  ///< 2026-07-28, patterns, "Multi Round-Trip Requests"
  bool task = false;            ///< the caller asked for a task, or declared that it knows them
  bool others = false;          ///< of any type, since caller and server list an extension that may define it
};

/// Returns the reason not to pass on the result of a tools/call, if any: a wrong shape (errc::protocol), or a request
/// for input by a modern server (errc::peer). The text is a clause about the server ("answered …"). `says_error`, if
/// given, is set to true for a result that says isError.
std::optional<error> tool_result_fault(const json::raw_json& result, clients::era server_era,
                                       accepted_results accepted = {}, bool* says_error = nullptr);

}  // namespace mcpbx::mcp::supervise
