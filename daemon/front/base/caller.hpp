// Somebody at the door, whatever protocol is spoken: what the door has to know of each.
#pragma once
#include "mcp/protocol/features.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::daemon {

/// What all callers of a door have done; part of mcpbx/status.
struct door_counters {
  std::uint64_t accepted = 0, refused = 0, stuck = 0;
  std::uint64_t requests = 0, faults = 0, stray = 0, overloaded = 0;
};

class caller {
 public:
  caller() = default;
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;
  virtual ~caller() = default;

  virtual void start() = 0;
  /// Ends it: its calls and runs are cancelled. `why` is logged unless it is "".
  virtual void close(std::string_view why) = 0;
  /// Callers see other entries of this kind than before.
  virtual void list_changed(const mcp::feature_kind& /*kind*/) {}
  /// Bytes that have not left yet.
  virtual std::size_t outbox_bytes() const { return 0; }
  /// Bytes that were ever taken by whoever reads there: one that takes more is not stuck.
  virtual std::uint64_t taken_bytes() const { return 0; }
  virtual std::size_t open_requests() const { return 0; }
  /// Adds what this caller has done so far.
  virtual void count_into(door_counters&) const {}
  /// Whether its outbox has held so much that the memory is worth giving back once it is gone.
  virtual bool was_large() const { return false; }
};

}  // namespace mcpbx::daemon
