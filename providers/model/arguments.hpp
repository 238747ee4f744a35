// Reading what a model wrote as the arguments of a call, for every API and every text format.
#pragma once
#include "providers/model/message.hpp"

namespace mcpbx::providers {

inline constexpr int max_argument_depth = 64;

/// Reads `call.arguments_text`: nothing, null or blanks mean `{}`; an object is taken as it is; a string that holds an
/// object is opened; what is no JSON is repaired where it has one meaning (json_repair.hpp), which is logged and sets
/// `repaired`. Anything else sets `problem`, in words the model can act on, and leaves `arguments` absent. A name
/// that an object has more than once is logged; its bytes stay as they are.
void read_arguments(tool_call_block& call);

/// `json` without line breaks between its tokens, unchanged where it has none: what a model wrote as JSON leaves in
/// messages that are lines. What read_arguments() sets is so already.
raw_json on_one_line(raw_json json);

}  // namespace mcpbx::providers
