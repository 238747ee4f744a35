// The reference of all keys as Markdown, made from the key table: the tables of docs/configuration.md.
#pragma once
#include <string>

namespace mcpbx::conf::model {

/// Returns the tables, a heading and a table for each section, in the order of the key table. Each row has the key, its
/// values, its default and its meaning. docs/configuration.md holds the same text between its two marks.
std::string key_document();

}  // namespace mcpbx::conf::model
