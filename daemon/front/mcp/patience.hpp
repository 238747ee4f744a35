// Waiting of many for the same length of time. The first to come is the first whose time is over, so that one timer and
// a list serve all, and beginning or ending to wait costs next to nothing.
#pragma once
#include "mcp/support/time.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>

namespace mcpbx::daemon::mcp_door {

class patience {
 public:
  /// Somebody who waits. It waits for one patience at a time, and no longer once it is destroyed.
  class waiter : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::link_mode_type::auto_unlink>> {
   public:
    waiter() = default;
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    /// Ends to wait.
    void stop_waiting() noexcept { unlink(); }

   protected:
    ~waiter() = default;

   private:
    friend class patience;
    /// The time is over. May end other waits, and destroy the waiter.
    virtual void on_waited() = 0;
    time_point due_;
  };

  /// `time` must outlive this.
  patience(time_source& time, milliseconds length) : time_(time), length_(length), timer_(time.make_timer()) {}

  /// Begins to wait. `who` must not wait already.
  void begin(waiter& who);

 private:
  void arm();
  void look();

  time_source& time_;
  const milliseconds length_;
  std::unique_ptr<timer> timer_;
  bool armed_ = false;
  boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiting_;
};

}  // namespace mcpbx::daemon::mcp_door
