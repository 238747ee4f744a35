// Counts the time since the beginning, without the time that the clock was stopped.
#include "daemon/loop/limits/run_clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcpbx::daemon::limits {
namespace {

constexpr milliseconds shortest_note{100}, longest_note{5'000};  // pause between two records of the used time

}  // namespace

run_clock::run_clock(time_source& time, const stored::run_limits& limits, callbacks c)
    : time_(time), limits_(limits), callbacks_(std::move(c)), began_(time.now()) {}

std::int64_t run_clock::ms_since(time_point then) const {
  return std::chrono::duration_cast<milliseconds>(time_.now() - then).count();
}

std::int64_t run_clock::elapsed_ms() const {
  const auto now = stands_since_.value_or(time_.now());
  return std::chrono::duration_cast<milliseconds>(now - began_ - stood_).count();
}

milliseconds run_clock::left() const {
  return limits_.timeout_ms > 0 ? milliseconds(limits_.timeout_ms - elapsed_ms()) : milliseconds::max();
}

void run_clock::stand(bool stands) {
  if (stands == stands_since_.has_value()) return;
  const auto now = time_.now();
  if (stands) {
    stands_since_ = now;
    if (limit_) limit_->cancel();
    return;
  }
  stood_ += std::chrono::duration_cast<milliseconds>(now - *stands_since_);
  stands_since_.reset();
  arm_limit();
}

void run_clock::arm_limit() {
  if (limits_.timeout_ms <= 0) return;
  if (!limit_) limit_ = time_.make_timer();
  limit_->arm(began_ + stood_ + milliseconds(limits_.timeout_ms), [this] { callbacks_.limit_reached(); });
}

void run_clock::plan_note() {
  if (limits_.timeout_ms <= 0) return;
  if (!note_) note_ = time_.make_timer();
  const auto pause = std::clamp(milliseconds(limits_.timeout_ms / 8), shortest_note, longest_note);
  note_->arm(time_.now() + pause, [this] { callbacks_.note_due(); });
}

std::optional<std::int64_t> run_clock::take_note() {
  const auto used = elapsed_ms();
  if (used == std::exchange(noted_ms_, used)) return std::nullopt;
  return used;
}

void run_clock::stop() {
  limit_.reset();
  note_.reset();
}

}  // namespace mcpbx::daemon::limits
