// Queue of new runs that wait until memory is no longer short. Calls them one by one, in order of arrival. Does no I/O.
#pragma once
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/time.hpp"

#include <deque>
#include <functional>
#include <memory>

namespace mcpbx::daemon::limits {

/// Shared by all runs of a runner. Bounded by the number of active runs, because each has at most one place. A run
/// limits its waiting time itself.
class room_queue final : private byte_account::watch {
 public:
  /// A run's place in the queue; its destructor leaves the queue. It must not outlive the queue.
  class place {
   public:
    place(room_queue& q, std::function<void()> turn) : queue_(q), turn_(std::move(turn)) {}
    ~place() { queue_.leave(*this); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    /// Returns true if the turn of this place has come.
    bool is_called() const noexcept { return called_; }

   private:
    friend class room_queue;
    room_queue& queue_;
    std::function<void()> turn_;
    bool called_ = false;
  };

  /// `time` must outlive the queue.
  explicit room_queue(time_source& time) : time_(time) {}

  /// Returns true if a new run has to wait: memory is short, or others are waiting.
  bool is_short() const { return !waiting_.empty() || byte_account::runs_short(); }
  /// Returns true if a run is waiting.
  bool is_waited_for() const noexcept { return !waiting_.empty(); }
  /// Adds a place behind all others. `turn` is called once, in a later turn, when the place is the first and memory is
  /// no longer short.
  std::unique_ptr<place> enter(std::function<void()> turn);

 private:
  void on_room() noexcept override;
  void leave(const place& p);
  void call();
  void go_on();

  time_source& time_;
  std::unique_ptr<timer> next_turn_;  // made by the first enter()
  std::deque<place*> waiting_;
};

}  // namespace mcpbx::daemon::limits
