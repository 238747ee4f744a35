// YAML as a tree of nodes.
#pragma once
#include "conf/document/jsonc.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mcpbx::conf::read {

/// Parses one YAML document as read_foreign() says. Anchors, aliases and tags other than those of the core schema are
/// errors.
documents::node yaml_tree(std::string_view text, std::uint32_t file, std::string_view name,
                          std::vector<documents::diagnostic>& errors);

}  // namespace mcpbx::conf::read
