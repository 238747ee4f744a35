// Describes the difference between a conversation and a recording.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>

namespace mcpbx::providers::replay {

/// Compares two canonical messages and returns a part of a sentence about message `number` (from 1). `recorded` may be
/// absent (the recording ends before it), and so may `came` (the conversation does).
std::string difference(std::size_t number, const json::raw_json& recorded, const json::raw_json& came);

}  // namespace mcpbx::providers::replay
