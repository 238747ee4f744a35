// Definitions of resources and of resource templates as servers list them, checked one by one (docs/guarantees.md, G15)
// and passed on as their own bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>

namespace mcpbx::mcp::protocol {

/// Size in bytes of the longest URI, or template of URIs, that mcpbx passes on.
inline constexpr std::size_t longest_uri = 8192;

/// Checks the definition of a resource by the demands of all revisions (2025-11-25, resources, "Resource"): a URI, a
/// name, and optional members of the right type, because strict hosts refuse a whole list for one wrong member. The
/// error is one clause, which names the resource if its URI is readable.
result<feature_item> read_resource(json::raw_json definition);

/// Checks the definition of a resource template (2025-11-25, resources, "Resource Templates") in the same way. The
/// template itself is any text: one that mcpbx cannot match is passed on and matches nothing.
result<feature_item> read_template(json::raw_json definition);

}  // namespace mcpbx::mcp::protocol
