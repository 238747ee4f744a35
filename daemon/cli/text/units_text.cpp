// Chooses units that keep numbers short.
#include "daemon/cli/text/units_text.hpp"

#include "mcp/support/text.hpp"

#include <array>
#include <string_view>

namespace mcpbx::cli::text {

std::string bytes_in_words(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  static constexpr std::array<std::string_view, 4> units{"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::int64_t tenths = bytes * 10 / 1024;
  for (; tenths >= 10240 && unit + 1 < units.size(); ++unit) tenths /= 1024;
  const auto fraction = tenths % 10;
  return std::to_string(tenths / 10) + (fraction == 0 ? "" : "." + std::to_string(fraction)) + " " +
         std::string(units.at(unit));
}

std::string duration_in_words(std::int64_t ms) {
  const auto seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return counted(days, "day") + " " + std::to_string(hours % 24) + " h";
  if (hours > 0) return std::to_string(hours) + " h " + std::to_string(minutes % 60) + " min";
  if (minutes > 0) return std::to_string(minutes) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds) + " s";
}

}  // namespace mcpbx::cli::text
