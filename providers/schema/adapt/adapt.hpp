// An MCP tool as a model's API accepts it. Only what the model sees changes: the tool server always gets
// arguments under its own names, and callers always get its own definition.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers {

/// Bytes of a description that a model is shown.
inline constexpr std::size_t max_description = 4096;
/// Changes that are told of a tool.
inline constexpr std::size_t max_changes = 8;

/// `name` must be one that the API takes already (names.hpp). The bytes of the schema stay as they are but for what
/// APIs refuse: a missing type, `$schema`, `$id` and `$comment`, combinators at the top, property values that are no
/// schemas, arrays without items, keywords with values that the standard does not allow, references that lead nowhere
/// (schema_references.hpp); for "anthropic" also optional arguments whose names it does not take, and for APIs that
/// know only a part of JSON Schema what schema_for() (reduce.hpp) makes of it, and for all of them titles and
/// descriptions that have to be cleaned (annotations.hpp), and nothing that is not seen (hidden_text.hpp). What went
/// with a loss is told in `changes`. An error means that this one tool has to be left out, with the reason.
result<tool_definition> adapt_tool(std::string_view name, std::string_view description, const raw_json& schema,
                                   std::string_view api = "openai-chat");

/// The changes of a tool as one line without control characters; "" when there are none.
std::string changes_in_words(const tool_definition& tool);

}  // namespace mcpbx::providers
