// Shortens a conversation that is too long for its model (L14), by cutting the oldest tool results.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "providers/model/message.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::daemon::results {

/// Cuts tool results, oldest first, until the conversation has half its size, and returns the number of cut results.
/// Adds the complete ones to `kept`. Marks the rest with `nonce` unless that is empty. Copies only changed messages.
int cut_oldest_results(std::vector<providers::message_ptr>& messages, kept_results& kept, std::string_view nonce);

}  // namespace mcpbx::daemon::results
