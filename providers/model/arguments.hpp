// Reads the arguments of a tool call as the model wrote them, for every API and every text format.
#pragma once
#include "providers/model/message.hpp"

namespace mcpbx::providers {

inline constexpr int max_argument_depth = 64;

/// Reads `call.arguments_text` into `call.arguments`; malformed JSON is repaired (json_repair.hpp), which sets
/// `repaired`. On failure sets `problem`, in words the model can act on, and leaves `arguments` absent.
void read_arguments(tool_call_block& call);

/// Returns `json` without line breaks between its tokens, because MCP messages are lines. read_arguments() has done
/// this already.
json::raw_json on_one_line(json::raw_json json);

}  // namespace mcpbx::providers
