// Search for tools by words: a pure ranking by name, title and description.
#pragma once
#include "mcp/client/catalog/catalog.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::views {

struct found_tool {
  catalogs::entry_ptr tool;
  int score = 0;          ///< comparable within one search only
  std::size_t words = 0;  ///< number of the words that the tool has
};

/// Returns at most `most` tools that have at least one of the words, the best first: those with most of the words, then
/// by the places of the words (name before title before description, whole words before parts) and by how rare they are
/// among the tools, then by name. Case does not matter. Only the first 2 KiB of a description count.
std::vector<found_tool> search_tools(const std::vector<catalogs::entry_ptr>& tools, std::string_view words,
                                     std::size_t most);

}  // namespace mcpbx::mcp::views
