// The log as every layer sees it: a level and a line. Where lines go is decided once, by daemon/app or a test.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::log {

enum class level { trace, debug, info, warn, error, off };

/// nullopt-like: returns false when `word` is none of trace, debug, info, warn, error, off.
bool parse_level(std::string_view word, level& out);
std::string_view to_string(level l);

/// Whether a line of this level would be written; ask before building an expensive one.
bool enabled(level l) noexcept;
/// Writes one line. Secrets are redacted and control characters escaped by the sink's installer, not by the caller.
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

/// Installs the sink and the threshold. Without one, nothing is written. Call before any thread but the first runs.
void install(level threshold, std::function<void(level, std::string_view)> sink);
void set_threshold(level threshold);

}  // namespace mcpbx::log
