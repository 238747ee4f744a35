// Reads the text of another program's configuration file into the tree that the rest of conf works on.
#pragma once
#include "conf/document/diagnostic.hpp"
#include "conf/document/jsonc.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mcpbx::conf::read {

/// Format of a program's file. `json` takes comments, trailing commas and a byte order mark, as most programs do.
enum class foreign_format : std::uint8_t { json, toml, yaml };

/// Largest file of another program that is read, in bytes.
inline constexpr std::size_t max_foreign_bytes = 32u * 1024 * 1024;
/// Most values of a file, so that its tree stays small.
inline constexpr std::ptrdiff_t max_foreign_values = 2'000'000;

/// Parses any bytes. `file` goes into every place, `name` into every error. Appends at most 50 errors to `errors`; use
/// the tree only if there are none. An empty TOML or YAML document is an empty object.
documents::node read_foreign(foreign_format format, std::string_view text, std::uint32_t file, std::string_view name,
                             std::vector<documents::diagnostic>& errors);

}  // namespace mcpbx::conf::read
