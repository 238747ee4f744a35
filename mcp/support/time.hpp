// Interfaces of time and randomness, so that tests turn a clock instead of waiting.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace mcpbx {

/// Monotonic time. Jumps of the wall clock affect time stamps only.
using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;
using std::chrono::milliseconds;

inline constexpr time_point never = time_point::max();

/// A one-shot timer. Firing happens on the speaking thread, never inside arm() or cancel().
class timer {
 public:
  virtual ~timer() = default;
  /// Calls `fire` once at `when` (or soon after); replaces an earlier arm().
  virtual void arm(time_point when, std::function<void()> fire) = 0;
  /// Calls `fire` once as soon as the present event is over, without asking the clock; replaces an earlier arm().
  virtual void arm_next(std::function<void()> fire) = 0;
  /// Forgets the pending call; it will not come.
  virtual void cancel() = 0;
};

/// Source of the time: `system_time` in mcp/async is the real clock, `manual_time` in test/support the one of tests.
class time_source {
 public:
  virtual ~time_source() = default;
  virtual time_point now() const = 0;
  /// Returns milliseconds since 1970, for time stamps only.
  virtual std::int64_t wall_ms() const = 0;
  virtual std::unique_ptr<timer> make_timer() = 0;
};

/// Source of uniform 64-bit random numbers, for jitter and identifiers.
class random_source {
 public:
  virtual ~random_source() = default;
  virtual std::uint64_t next() = 0;
};

}  // namespace mcpbx
