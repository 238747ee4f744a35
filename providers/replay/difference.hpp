// The words for a conversation that is not in a recording: which message differs, what was recorded and what came.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>

namespace mcpbx::providers::replay {

/// A part of a sentence about message `number` (from 1) of a conversation, from two canonical messages. Either may be
/// absent: the recording has nothing there, or the conversation ends before it.
std::string difference(std::size_t number, const raw_json& recorded, const raw_json& came);

}  // namespace mcpbx::providers::replay
