// Interface of one caller for the door, independent of its protocol.
#pragma once
#include "daemon/front/base/news_round.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::daemon::front {

/// Totals of all callers of a door; part of mcpbx/status.
struct door_counters {
  std::uint64_t accepted = 0, refused = 0, stuck = 0;
  std::uint64_t requests = 0, faults = 0, stray = 0, overloaded = 0;
};

class caller : public news_reader {
 public:
  caller() = default;
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;
  ~caller() override = default;

  virtual void start() = 0;
  /// Closes the connection and cancels its calls and runs. Logs `why` unless it is "".
  virtual void close(std::string_view why) = 0;
  /// Ends streams of notifications, which would stay open for ever, because the daemon is stopping.
  virtual void end_listens() {}
  /// Returns the bytes that are not sent yet.
  virtual std::size_t outbox_bytes() const { return 0; }
  /// Returns the bytes that the peer has taken so far; a caller whose figure grows is not stuck.
  virtual std::uint64_t taken_bytes() const { return 0; }
  virtual std::size_t open_requests() const { return 0; }
  /// Adds this caller's totals.
  virtual void count_into(door_counters&) const {}
  /// Returns true if the outbox was ever so large that freed memory should be returned to the system afterwards.
  virtual bool was_large() const { return false; }
};

}  // namespace mcpbx::daemon::front
