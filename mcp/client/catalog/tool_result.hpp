// Checks the shape of a tool server's answer to tools/call before it is passed on (docs/guarantees.md, G14).
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/support/error.hpp"

#include <optional>

namespace mcpbx::mcp {

/// Why the result of a tools/call must not be passed on, if so: it has the wrong shape (errc::protocol), or a modern
/// server asks for input in it (errc::peer with what was asked), since questions are not passed on. Error texts are
/// clauses about the server ("answered …").
std::optional<error> tool_result_fault(const raw_json& result, era server_era);

}  // namespace mcpbx::mcp
