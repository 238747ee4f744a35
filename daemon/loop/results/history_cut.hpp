// Making room in a conversation that is too long for its model (L14): the oldest tool results are cut first.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "providers/model/message.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// Leaves of the oldest tool results no more than a beginning and a notice, until the conversation is half as long or
/// none is left to cut; what is cut is kept. `nonce` marks what is left, unless it is empty. Returns how many results
/// were cut. Messages with none are not copied. Pure.
int cut_oldest_results(std::vector<providers::message_ptr>& messages, kept_results& kept, std::string_view nonce);

}  // namespace mcpbx::daemon
