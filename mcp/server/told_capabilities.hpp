// The capabilities that mcpbx tells its callers: those of all tool servers together.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/features.hpp"

#include <string_view>

namespace mcpbx::mcp::callers {

/// Writes the member `capabilities` (ServerCapabilities) for a caller that speaks this revision. Tasks differ between
/// the eras, so that each era is told of its own only. `with_methods`: the caller may use methods of extensions; else
/// it is told of those that need none.
void write_capabilities(json::json_writer& out, protocol::feature_table kinds, const catalogs::catalog_offers& offers,
                        std::string_view revision, bool with_methods);

}  // namespace mcpbx::mcp::callers
