// The caller's own tools (L21) at a shell: their definitions, the calls that a run hands back, and the results with
// which it goes on. Pure.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::input {

/// Returns the definitions for `clientTools` of `mcpbx/chat`, on one line; the daemon checks each. Definitions in
/// OpenAI's form (`{"type": "function", "function": {…}}`) become MCP's. errc::invalid_argument: an empty array, or
/// none.
result<std::string> client_tools_of(const json::raw_json& definitions);

/// The calls that wait for their results in a run that ended its request with `caller_tools`, each as one line of JSON:
/// `{"run", "id", "name", "arguments"}`.
std::vector<std::string> handed_calls_of(const json::raw_json& result);

/// The message for `mcpbx/chat` that brings results: `results` has one member for every call, called by its id, with a
/// text or a result in MCP's shape. errc::invalid_argument names the member and the form.
result<std::string> results_message(const json::raw_json& results);

}  // namespace mcpbx::cli::input
