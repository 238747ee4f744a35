// The words of all model APIs for the end of an answer, in one table, since proxies pass those of one API on under
// another.
#pragma once
#include "providers/model/message.hpp"

#include <string_view>

namespace mcpbx::providers::wire {

/// Reads a `finish_reason`, `finishReason`, `stop_reason` or `done_reason` in any case, with `-` or `_`, alone or
/// behind its kind ("function_call_filter: MALFORMED_FUNCTION_CALL"). An empty word is stop. An unknown word is
/// `unknown`, since the answer may be incomplete. Words for "there are calls" give stop: the decoder knows the calls.
end_reason read_end_reason(std::string_view word);

}  // namespace mcpbx::providers::wire
