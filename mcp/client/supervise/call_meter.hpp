// Counts the calls of one tool server and how long they took. One call costs a few additions and no allocation.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/support/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mcpbx::mcp::supervise {

/// Numbers of calls by duration. Four steps for each doubling, so a duration is known to a quarter of itself, up to 71
/// minutes. Its size is fixed.
class duration_histogram {
 public:
  void add(duration took) noexcept;
  /// Adds the calls of another one.
  void add(const duration_histogram& other) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  /// Returns the duration that `share` (0 to 1) of the calls did not exceed, in microseconds; -1: there are no calls.
  std::int64_t quantile_us(double share) const noexcept;

 private:
  static constexpr std::size_t steps = 124;
  static std::size_t step_of(std::uint64_t us) noexcept;
  static std::uint64_t upper_end(std::size_t step) noexcept;
  std::array<std::uint32_t, steps> numbers_{};
  std::uint64_t count_ = 0;
};

/// The calls of one server since its start, and those of the latest 10 to 20 s apart.
class call_meter {
 public:
  /// Calls of the present and of the previous span are the recent ones.
  static constexpr milliseconds span{10'000};

  explicit call_meter(time_point now) noexcept : began_(now), span_began_(now) {}
  /// Counts a call that ended at `now`. `failed`: no answer, an error, or a result that says that it is one.
  void ended(time_point now, duration took, bool failed) noexcept;
  /// Counts a call that was never sent. It has no duration.
  void refused() noexcept;
  clients::call_counts counts(time_point now) const noexcept;

 private:
  /// Begins a new span if the present one is over.
  void turn(time_point now) noexcept;
  std::uint64_t calls_ = 0, failed_ = 0;
  duration_histogram present_, previous_;
  time_point began_;
  time_point span_began_;
  bool has_previous_ = false;
};

}  // namespace mcpbx::mcp::supervise
