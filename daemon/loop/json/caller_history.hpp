// Checks that the messages that a caller sends form a conversation that every provider accepts.
#pragma once
#include "daemon/loop/json/message_json.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <vector>

namespace mcpbx::daemon::event_json {

/// Returns the history: the results of a reply in one message, in call order; no empty system and assistant messages.
/// Fails unless the one result of each call comes next. The place of a fault begins with the index: "[2]".
std::expected<std::vector<providers::message_ptr>, message_fault> history_from(
    const std::vector<providers::message_ptr>& said);

}  // namespace mcpbx::daemon::event_json
