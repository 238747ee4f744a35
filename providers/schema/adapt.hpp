// An MCP tool as a model's API accepts it. Only what the model sees changes: the tool server always gets
// arguments under its own names, and callers always get its own definition.
#pragma once
#include "mcp/support/error.hpp"
#include "mcp/support/raw_json.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers {

/// Bytes of a description that a model is shown.
inline constexpr std::size_t max_description = 4096;

/// `name` must be one that the API takes already (names.hpp). The bytes of the schema stay as they are but for what
/// APIs refuse: a missing type, `$schema`, `$id` and `$comment`, combinators at the top, property values that are no
/// schemas, arrays without items, keywords with values that the standard does not allow; for "anthropic" also optional
/// arguments whose names it does not take, and for APIs that know only a part of JSON Schema what schema_for()
/// (reduce.hpp) makes of it. An error means that this one tool has to be left out, with the reason.
result<tool_definition> adapt_tool(std::string_view name, std::string_view description, const raw_json& schema,
                                   std::string_view api = "openai-chat");

}  // namespace mcpbx::providers
