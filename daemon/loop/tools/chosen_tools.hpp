// What a profile and a request make of the catalog: the tools that are offered, under the names that they give them.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/client/catalog/catalog.hpp"

#include <span>
#include <vector>

namespace mcpbx::daemon {

/// The entries of `catalog` that `choice` lets through, in its order. One that is renamed is a copy under its new name,
/// unless that is reserved or another tool that is let through has it: then it keeps the catalog's name, so that every
/// tool stays reachable. `before`: an earlier outcome, of which unchanged copies are taken again.
std::vector<mcp::entry_ptr> chosen_tools(const mcp::catalog& catalog, const tool_choice& choice,
                                         std::span<const mcp::entry_ptr> before = {});

}  // namespace mcpbx::daemon
