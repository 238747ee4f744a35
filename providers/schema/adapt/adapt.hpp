// Adapts the definition of an MCP tool to a model's API. Only the model's view changes: the tool server still gets its
// own argument names, and callers see its own definition.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::adapt {

/// Largest description in bytes that a model is shown.
inline constexpr std::size_t max_description = 4096;
/// Largest number of changes reported for one tool.
inline constexpr std::size_t max_changes = 8;

/// Makes the definition that `api` accepts; `name` must fit already (names.hpp). The schema keeps its bytes except for
/// what README.md lists; `changes` reports every loss. An error is the reason to leave this one tool out.
result<tool_definition> adapt_tool(std::string_view name, std::string_view description, const json::raw_json& schema,
                                   std::string_view api = "openai-chat");

/// Returns the changes of a tool as one line without control characters; "" if there are none.
std::string changes_in_words(const tool_definition& tool);

}  // namespace mcpbx::providers::adapt
