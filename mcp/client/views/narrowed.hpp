// Chooses the prompts and resources that callers of a profile see.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/item_filter.hpp"

namespace mcpbx::mcp::views {

/// Returns the part of a snapshot that these filters let through. A denial holds under every name that an item has or
/// may have, an `allow` for those that it has for certain; nothing is renamed. Shares what is not narrowed. Methods of
/// extensions, for which no filter could hold, are not in it, nor the extensions that have such methods.
catalogs::catalog_rest narrowed(const catalogs::catalog_rest& whole, const catalogs::item_filter& prompts,
                                const catalogs::item_filter& resources);

}  // namespace mcpbx::mcp::views
