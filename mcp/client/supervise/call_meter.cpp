// Sorts durations into steps, and keeps two spans of time.
#include "mcp/client/supervise/call_meter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mcpbx::mcp::supervise {

// The steps 0 to 3 are 0 to 3 µs. Each doubling from 4 µs on has four steps, by the two bits behind the highest one.
std::size_t duration_histogram::step_of(std::uint64_t us) noexcept {
  if (us < 4) return static_cast<std::size_t>(us);
  const auto highest = static_cast<std::size_t>(std::bit_width(us)) - 1;
  return std::min((highest - 1) * 4 + static_cast<std::size_t>(us >> (highest - 2) & 3), steps - 1);
}

std::uint64_t duration_histogram::upper_end(std::size_t step) noexcept {
  if (step < 4) return step;
  const std::size_t highest = step / 4 + 1;
  return ((4 + step % 4 + 1) << (highest - 2)) - 1;
}

void duration_histogram::add(duration took) noexcept {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  ++numbers_[step_of(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 0)))];
  ++count_;
}

void duration_histogram::add(const duration_histogram& other) noexcept {
  for (std::size_t i = 0; i < steps; ++i) numbers_[i] += other.numbers_[i];
  count_ += other.count_;
}

std::int64_t duration_histogram::quantile_us(double share) const noexcept {
  if (count_ == 0) return -1;
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_))));
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < steps; ++i)
    if ((passed += numbers_[i]) >= wanted) return static_cast<std::int64_t>(upper_end(i));
  return static_cast<std::int64_t>(upper_end(steps - 1));
}

void call_meter::turn(time_point now) noexcept {
  if (now - span_began_ < span) return;
  // After a pause of two spans and more nothing of the present one is recent.
  has_previous_ = now - span_began_ < 2 * span;
  previous_ = has_previous_ ? present_ : duration_histogram();
  present_ = {};
  span_began_ = has_previous_ ? span_began_ + span : now;
}

void call_meter::ended(time_point now, duration took, bool failed) noexcept {
  turn(now);
  ++calls_;
  if (failed) ++failed_;
  present_.add(took);
}

void call_meter::refused() noexcept {
  ++calls_;
  ++failed_;
}

clients::call_counts call_meter::counts(time_point now) const noexcept {
  call_meter seen = *this;
  seen.turn(now);
  const auto since = seen.has_previous_ ? seen.span_began_ - span : std::max(seen.began_, seen.span_began_ - span);
  duration_histogram recent = seen.present_;
  recent.add(seen.previous_);
  clients::call_counts c;
  c.calls = calls_;
  c.failed = failed_;
  // The first moments count as a second, or one call would look like thousands in a second.
  const double seconds = std::max(std::chrono::duration<double>(now - since).count(), 1.0);
  c.per_second = static_cast<double>(recent.count()) / seconds;
  c.p50_us = recent.quantile_us(0.5);
  c.p95_us = recent.quantile_us(0.95);
  return c;
}

}  // namespace mcpbx::mcp::supervise
