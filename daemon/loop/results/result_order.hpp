// Sorts the tool results in a conversation that a caller sends. Some APIs and all text formats carry no call ids, so
// there only the order tells to which call a result belongs.
#pragma once
#include "providers/model/message.hpp"

#include <vector>

namespace mcpbx::daemon::results {

/// Sorts the results that follow each assistant message into the order of its calls (L12). Results that belong to none
/// of these calls come last. Replaces changed messages by copies.
void order_results(std::vector<providers::message_ptr>& messages);

}  // namespace mcpbx::daemon::results
