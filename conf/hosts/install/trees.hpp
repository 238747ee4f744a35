// Trees of documents: compared regardless of the order of keys, and changed.
#pragma once
#include "conf/hosts/read/foreign_tree.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::install {

/// Returns true if both say the same. null and an empty object are the same, since YAML writes both as nothing.
bool same_tree(const documents::node& a, const documents::node& b);

/// Parses the text; errc::parse with the first error.
result<documents::node> parsed_file(read::foreign_format format, std::string_view text, std::string_view file);

/// Returns the text if it says what `wanted` does, else errc::invalid_argument.
result<std::string> proven_file(read::foreign_format format, std::string text, const documents::node& wanted,
                                std::string_view file);

/// Sets the value at a path of keys; objects on the way are made.
void set_node(documents::node& tree, const std::vector<std::string>& path, documents::node value);
/// Removes the member at a path of keys, if it is there.
void remove_node(documents::node& tree, const std::vector<std::string>& path);
/// Returns the value at a path of keys; null: there is none.
const documents::node_member* member_at(const documents::node& tree, const std::vector<std::string>& path);

/// Returns the offset of a place in the text: of its line, and `column` characters on. `text.size()` if there is none.
std::size_t offset_of(std::string_view text, const documents::place& at);
/// Returns the offset of the line after the one of `offset`, or `text.size()`.
std::size_t next_line(std::string_view text, std::size_t offset);

}  // namespace mcpbx::conf::install
