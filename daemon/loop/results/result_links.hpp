// Resource links in tool results (2025-11-25, "Resource Links"), which the model can read with mcpbx__read_result.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::results {

/// Most links of one result that are looked at.
inline constexpr std::size_t most_links = 64;

/// Returns the URIs that a tool result links to, at most most_links.
std::vector<std::string> links_in(const json::raw_json& result);
/// Returns true if one of the kept results links to this URI.
bool has_link(const kept_results& kept, std::string_view uri);
/// Returns the view of a result with links, with a sentence behind it that tells the model how to read them. Pure.
json::raw_json with_link_hint(const json::raw_json& shown);
/// Returns the result of resources/read as that of a tool: texts as embedded resources, images as images. Pure.
json::raw_json resource_as_result(const json::raw_json& read);

}  // namespace mcpbx::daemon::results
