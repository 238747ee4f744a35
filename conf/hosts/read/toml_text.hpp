// TOML as a tree of nodes.
#pragma once
#include "conf/document/jsonc.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mcpbx::conf::read {

/// Parses TOML 1.0 as read_foreign() says. Dates and times become their text.
documents::node toml_tree(std::string_view text, std::uint32_t file, std::string_view name,
                          std::vector<documents::diagnostic>& errors);

}  // namespace mcpbx::conf::read
