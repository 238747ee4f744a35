// The order of results in a conversation that a caller brings. Where ids join them to their calls any order says the
// same; some APIs and all text formats carry no ids, and there only the order says which result is whose.
#pragma once
#include "providers/model/message.hpp"

#include <vector>

namespace mcpbx::daemon {

/// Puts the results between an assistant message and the next one that is none of results into the order of its calls
/// (L12). Those of no call of it come last. Messages that change are replaced by copies.
void order_results(std::vector<providers::message_ptr>& messages);

}  // namespace mcpbx::daemon
