// Joins the instructions of tool servers, for callers and models that see all servers as one.
#pragma once
#include "mcp/client/catalog/catalog.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace mcpbx::mcp::views {

/// Returns the instructions of the servers that these tools belong to, each below a line with the server's name, in the
/// order of the tools; "" if there are none. At most `most` bytes: the text that does not fit is cut, later ones are
/// left out, and a line at the end says so.
std::string joined_instructions(std::span<const catalogs::entry_ptr> tools, std::size_t most);

}  // namespace mcpbx::mcp::views
