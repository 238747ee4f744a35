// The log for all rooms: a level and a line. daemon/app or a test installs the destination once.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::log {

enum class level { trace, debug, info, warn, error, off };

/// Parses trace, debug, info, warn, error or off. Returns false for another word.
bool parse_level(std::string_view word, level& out);
std::string_view to_string(level l);

/// Returns true if lines of this level are written. Ask before building an expensive line.
bool enabled(level l) noexcept;
/// Writes one line. The sink redacts secrets and escapes control characters, so callers need not.
void write(level l, std::string_view line);

inline void trace(std::string_view line) {
  write(level::trace, line);
}
inline void debug(std::string_view line) {
  write(level::debug, line);
}
inline void info(std::string_view line) {
  write(level::info, line);
}
inline void warn(std::string_view line) {
  write(level::warn, line);
}
inline void error(std::string_view line) {
  write(level::error, line);
}

/// Installs the sink and the threshold. Without a sink nothing is written. Call it before a second thread runs.
void install(level threshold, std::function<void(level, std::string_view)> sink);
void set_threshold(level threshold);

}  // namespace mcpbx::log
