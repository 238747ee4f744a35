// Finds the URIs that a result of a tool server quotes: links to resources, and embedded ones.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::callers {

/// Most URIs that are taken from one result.
inline constexpr std::size_t most_result_uris = 256;

/// Largest result that is looked through.
inline constexpr std::size_t longest_searched_result = 4u << 20;

/// Returns the URIs in `content` of a tools/call, `messages` of a prompts/get or `contents` of a resources/read, as
/// `member` says, each at most longest_uri bytes. Costs little for a result without any.
std::vector<std::string> uris_in(const json::raw_json& result, std::string_view member);

}  // namespace mcpbx::mcp::callers
