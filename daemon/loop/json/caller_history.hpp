// The conversation that a caller sends as `messages`: whether it is one that every provider takes.
#pragma once
#include "daemon/loop/json/message_json.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <vector>

namespace mcpbx::daemon {

/// The history that messages as callers send them make. Every call has one result, in a message of role `tool` before
/// anything else is said, and the ids of one message's calls differ; what is wrong is told by its place, which begins
/// with "[2]", the number of the message. As in a run's own history the results of one reply are then one message, in
/// the order of the calls and with their names. System and assistant messages that say nothing are left out, for no
/// provider takes them back.
std::expected<std::vector<providers::message_ptr>, message_fault> history_from(
    const std::vector<providers::message_ptr>& said);

}  // namespace mcpbx::daemon
