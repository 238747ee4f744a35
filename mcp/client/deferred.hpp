// A queue of work for the next turn: outcomes that must not be reported inside the call that caused them, and objects
// that must outlive the event in which they ended.
#pragma once
#include "mcp/support/time.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace mcpbx::mcp::clients {

class deferred : public std::enable_shared_from_this<deferred> {
 public:
  explicit deferred(time_source& time) : timer_(time.make_timer()) {}

  /// Runs `work` in a later turn, in the order of posting, never inside post(). Destroying this object drops the rest.
  void post(std::move_only_function<void()> work) {
    work_.push_back(std::move(work));
    if (work_.size() == 1) timer_->arm_next([this] { run(); });
  }
  /// Drops the waiting work. Owners call it at their end, since the work may hold this object in turn.
  void clear() {
    timer_->cancel();
    std::exchange(work_, {}).clear();
  }
  /// Returns true inside a call of code of others, which may do anything but destroy the caller.
  bool calling() const noexcept { return calls_ > 0; }
  /// Marks a call of code of others while it lives.
  class call {
   public:
    explicit call(std::shared_ptr<deferred> d) : d_(std::move(d)) { ++d_->calls_; }
    ~call() { --d_->calls_; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    std::shared_ptr<deferred> d_;
  };
  /// Keeps an object until the present event is over.
  template <class T>
  void bury(std::unique_ptr<T> object) {
    if (object) post([kept = std::move(object)] {});
  }

 private:
  void run() {
    const call inside(shared_from_this());
    for (auto& work : std::exchange(work_, {})) work();
  }
  std::unique_ptr<timer> timer_;
  std::vector<std::move_only_function<void()>> work_;
  int calls_ = 0;
};

}  // namespace mcpbx::mcp::clients
