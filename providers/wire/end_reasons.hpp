// The words of all model APIs for the end of an answer, in one table, since proxies pass those of one API on under
// another.
#pragma once
#include "providers/model/message.hpp"

#include <string_view>

namespace mcpbx::providers {

/// Reads a `finish_reason`, `finishReason`, `stop_reason` or `done_reason`, in any letter case, with `-` for `_`,
/// alone or behind its kind ("function_call_filter: MALFORMED_FUNCTION_CALL"). An empty one is stop; one that is not
/// known is `unknown`, never stop: the answer may lack its rest. Calls that came are not looked at here, so a word that
/// only says that there are some is stop.
end_reason read_end_reason(std::string_view word);

}  // namespace mcpbx::providers
