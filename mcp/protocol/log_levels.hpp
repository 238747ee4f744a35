// The levels of log messages (2025-11-25 and 2026-07-28, logging, "Log Levels"), from the least to the most urgent.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mcpbx::mcp::protocol {

inline constexpr std::array<std::string_view, 8> log_levels = {"debug", "info",     "notice", "warning",
                                                               "error", "critical", "alert",  "emergency"};

/// Returns the place of a level in log_levels, or nullopt for another word.
inline std::optional<std::size_t> log_level_of(std::string_view word) {
  const auto found = std::ranges::find(log_levels, word);
  if (found == log_levels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - log_levels.begin());
}

}  // namespace mcpbx::mcp::protocol
