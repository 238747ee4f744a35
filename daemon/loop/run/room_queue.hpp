// New runs that wait for memory, which others use: called one after another, in the order in which they came. A core.
#pragma once
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/time.hpp"

#include <deque>
#include <functional>
#include <memory>

namespace mcpbx::daemon {

/// As long as the runs that may go on: each of them has one place at most. How long it waits is its own affair.
class room_queue final : private byte_account::watch {
 public:
  /// Leaves the queue with its end. It must not outlive the queue.
  class place {
   public:
    place(room_queue& q, std::function<void()> turn) : queue_(q), turn_(std::move(turn)) {}
    ~place() { queue_.leave(*this); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    /// Its turn has come.
    bool is_called() const noexcept { return called_; }

   private:
    friend class room_queue;
    room_queue& queue_;
    std::function<void()> turn_;
    bool called_ = false;
  };

  /// `time` must outlive the queue.
  explicit room_queue(time_source& time) : time_(time) {}

  /// Whether who comes now has to wait: bytes run short, or others came before.
  bool is_short() const { return !waiting_.empty() || byte_account::runs_short(); }
  bool is_waited_for() const noexcept { return !waiting_.empty(); }
  /// Behind all who wait. `turn` is called once, in a turn of its own, when there is room and nobody is before it.
  std::unique_ptr<place> enter(std::function<void()> turn);

 private:
  void on_room() noexcept override;
  void leave(const place& p);
  void call();
  void go_on();

  time_source& time_;
  std::unique_ptr<timer> next_turn_;  // there is one while anybody waits
  std::deque<place*> waiting_;
};

}  // namespace mcpbx::daemon
