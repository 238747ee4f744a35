// Sizes and durations in words.
#pragma once
#include <cstdint>
#include <string>

namespace mcpbx::cli::text {

/// Returns "512 bytes", "12.5 MiB".
std::string bytes_in_words(std::int64_t bytes);
/// Returns "12 s", "3 min 5 s", "2 h 10 min", "4 days 3 h".
std::string duration_in_words(std::int64_t ms);

}  // namespace mcpbx::cli::text
