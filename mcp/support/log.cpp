// The only global of the log: its threshold and sink.
#include "mcp/support/log.hpp"

#include <array>
#include <atomic>

namespace mcpbx::log {
namespace {
constexpr std::array<std::string_view, 6> words{"trace", "debug", "info", "warn", "error", "off"};
std::atomic<level> threshold_now{level::off};
std::function<void(level, std::string_view)>& sink_now() {
  static std::function<void(level, std::string_view)> sink;
  return sink;
}
}  // namespace

bool parse_level(std::string_view word, level& out) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) {
      out = static_cast<level>(i);
      return true;
    }
  return false;
}

std::string_view to_string(level l) {
  return words[static_cast<std::size_t>(l)];
}

bool enabled(level l) noexcept {
  return l != level::off && l >= threshold_now.load(std::memory_order_relaxed);
}

void write(level l, std::string_view line) {
  if (enabled(l) && sink_now()) sink_now()(l, line);
}

void install(level threshold, std::function<void(level, std::string_view)> sink) {
  sink_now() = std::move(sink);
  threshold_now = threshold;
}

void set_threshold(level threshold) {
  threshold_now = threshold;
}

}  // namespace mcpbx::log
