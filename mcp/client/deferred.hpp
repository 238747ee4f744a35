// Work for the next turn: outcomes that must not be told from inside the call that caused them, and objects that must
// outlive the event in which they ended.
#pragma once
#include "mcp/support/time.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace mcpbx::mcp {

class deferred : public std::enable_shared_from_this<deferred> {
 public:
  explicit deferred(time_source& time) : timer_(time.make_timer()) {}

  /// Runs `work` soon, in the order of posting, never inside post(). What is left when this goes away is dropped.
  void post(std::move_only_function<void()> work) {
    work_.push_back(std::move(work));
    if (work_.size() == 1) timer_->arm_next([this] { run(); });
  }
  /// Drops what waits, for the end of whoever shares this: what waits may hold this in turn.
  void clear() {
    timer_->cancel();
    std::exchange(work_, {}).clear();
  }
  /// Whether code of others is being called, which may call anything but destroy whom it was called by.
  bool calling() const noexcept { return calls_ > 0; }
  /// For as long as it lives.
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

}  // namespace mcpbx::mcp
