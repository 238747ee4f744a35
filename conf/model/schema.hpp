// The published JSON Schema of the configuration, made from the key table.
#pragma once
#include <string>

namespace mcpbx::conf::model {

/// The schema (2020-12), indented, ending in a newline. conf/mcpbx.schema.json holds the same text. It describes the
/// file without comments; references are checked by the loader alone.
std::string json_schema();

}  // namespace mcpbx::conf::model
