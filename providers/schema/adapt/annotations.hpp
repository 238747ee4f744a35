// Titles and descriptions inside of a schema, which a tool server writes and a model reads (docs/requirements.md, F8).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

/// Bytes of a title or a description inside of a schema that a model is shown. More than of a tool's own description
/// (adapt.hpp): the longest of a real server (test/data/tools) has 5 KiB.
inline constexpr std::size_t max_annotation = 8192;

/// `text` of a tool server as a model is shown it: printable() with its lines, of at most `bytes` bytes, with `…` for
/// the rest.
std::string text_for_models(std::string_view text, std::size_t bytes);

/// Each `title` and `description` of a schema in `schema` (checked) as text_for_models(); each that changes is told in
/// `changes`, by its place. What is called so but is a value (a property, an element of `enum`, `const`, `default`,
/// `examples`) is data and is not looked at here. The same bytes when there is nothing to clean. Below 256 levels of
/// schemas nothing is looked at.
raw_json clean_annotations(const raw_json& schema, std::vector<std::string>& changes);

}  // namespace mcpbx::providers
