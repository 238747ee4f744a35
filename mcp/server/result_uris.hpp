// Finds the URIs that a result of a tool server quotes: links to resources, and embedded ones.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mcpbx::mcp {

/// Most URIs that are taken from one result.
inline constexpr std::size_t most_result_uris = 256;

/// Returns the URIs in `content` of a tools/call, `messages` of a prompts/get and `contents` of a resources/read, each
/// at most longest_uri bytes. Costs next to nothing for a result without any.
std::vector<std::string> uris_in(const raw_json& result);

}  // namespace mcpbx::mcp
