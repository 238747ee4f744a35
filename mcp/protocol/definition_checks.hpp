// Checks that the definitions of all kinds share: keys, and optional members of the right type.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::mcp::protocol {

/// A member that may be absent.
struct optional_member {
  std::string_view key;
  json::raw_json::kind type;
};

/// Returns the fault of an optional member of `object`, as a clause about `where` and its key, or "".
std::string wrong_member(const json::raw_object& object, std::span<const optional_member> members,
                         std::string_view where = {});

/// Returns the text of `member`, by which callers know the item: a string of 1 to `most` bytes without control
/// characters. The error is one clause.
result<std::string> read_key(const json::raw_object& object, std::string_view member, std::size_t most);

/// Returns the fault of `annotations` as resources, templates and content have them (2025-11-25, resources,
/// "Annotations"), or "". An absent value has none.
std::string wrong_annotations(const json::raw_json& annotations);

}  // namespace mcpbx::mcp::protocol
