// Edits of JSON with comments as text: one member is set or removed, and all other bytes stay as they are, comments,
// order, indentation, line ends and a byte order mark included. Pure: the caller reads and writes the files.
#pragma once
#include "mcp/support/error.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::edit {

/// Keys from the document's object down to one member, unescaped: {"mcpServers", "git"}.
using json_path = std::vector<std::string>;

/// Returns `text` with the member at `path` set to `json`, in the document's layout. Makes objects that are missing; a
/// new member stands last. `name` is the file's name in errors, which README.md lists.
result<std::string> set_member(std::string_view text, const json_path& path, std::string_view json,
                               std::string_view name);

/// Returns `text` without the member at `path`, its comma, and a comment behind it on its line. Comments above it stay.
/// The text is returned unchanged if there is no such member. Errors as set_member().
result<std::string> remove_member(std::string_view text, const json_path& path, std::string_view name);

/// Returns `text` with line comments above the member at `path`, indented as it is; the text is returned unchanged if
/// there is no such member. `lines` each begin with `//` and have no end. Errors as set_member().
result<std::string> comment_member(std::string_view text, const json_path& path, std::span<const std::string> lines,
                                   std::string_view name);

/// Returns the text of the value at `path` as it stands in the document; nullopt: no such member. Errors as
/// set_member().
result<std::optional<std::string>> member_text(std::string_view text, const json_path& path, std::string_view name);

/// Returns the keys of the object at `path`, unescaped, in the order of the file; none if there is no such object.
/// Errors as set_member().
result<std::vector<std::string>> member_keys(std::string_view text, const json_path& path, std::string_view name);

}  // namespace mcpbx::conf::edit
