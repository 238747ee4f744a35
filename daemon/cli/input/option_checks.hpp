// Checks of option values that several verbs use.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>

namespace mcpbx::cli::input {

/// Accepts a whole number from `least` to `most`. CLI11's own range check reports "x" and 1.5 as out of range.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

}  // namespace mcpbx::cli::input
