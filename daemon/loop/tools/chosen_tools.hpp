// Selects the tools of the catalog that a profile and a request allow, and renames them as the profile says.
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/client/catalog/catalog.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::tools {

/// Returns the allowed entries in the order of `catalog`, renamed ones as copies. Ignores a new name, with a log line,
/// if it is reserved or taken. Reuses unchanged copies of `before`, an earlier result.
std::vector<mcp::catalogs::entry_ptr> chosen_tools(const mcp::catalogs::catalog& catalog,
                                                   const stored::tool_choice& choice,
                                                   std::span<const mcp::catalogs::entry_ptr> before = {});

/// Returns true if the choice may include tools of this server, which has listed none so far. Errs towards true where
/// names carry no server's name.
bool may_choose(const stored::tool_choice& choice, std::string_view server);

}  // namespace mcpbx::daemon::tools
