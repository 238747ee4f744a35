// Cleans titles and descriptions inside a schema: a tool server writes them, a model reads them (docs/requirements.md,
// F8).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::adapt {

/// Largest title or description inside a schema, in bytes. Larger than the limit for a tool's own description
/// (adapt.hpp), because a real server (test/data/tools) has one of 5 KiB.
inline constexpr std::size_t max_annotation = 8192;

/// Makes a tool server's text fit for a model: printable() with its line breaks, cut to `bytes` bytes with `…`.
std::string text_for_models(std::string_view text, std::size_t bytes);

/// Applies text_for_models() to each `title` and `description` in `schema` (checked) and reports the changed ones by
/// place in `changes`. Skips values of that name that are data: properties, and elements of `enum`, `const`, `default`
/// and `examples`. Returns the same bytes if nothing changes. Stops below 256 levels of schemas.
json::raw_json clean_annotations(const json::raw_json& schema, std::vector<std::string>& changes);

}  // namespace mcpbx::providers::adapt
