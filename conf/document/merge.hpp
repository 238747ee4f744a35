// Merging of the trees of several files.
#pragma once
#include "conf/document/jsonc.hpp"

namespace mcpbx::conf::documents {

/// Merges `from` into `into`: objects member by member, any other value as a whole. A broken value changes nothing.
void merge(node& into, node&& from);

}  // namespace mcpbx::conf::documents
