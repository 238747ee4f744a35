// Waits of one run before its first round: for memory, for the end of the run before it in its session, and for tool
// servers that are starting. They do not read the inbox of the run, so what comes meanwhile stays there in its order.
#pragma once
#include "daemon/loop/limits/room_queue.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>

namespace mcpbx::daemon::waits {

/// Belongs to one run, which waits for one thing at a time. All of `time`, `room` and `tools` must outlive it.
class first_waits {
 public:
  first_waits(const boost::asio::any_io_executor& executor, time_source& time, limits::room_queue& room,
              tools::tool_source& tools);
  ~first_waits();
  first_waits(const first_waits&) = delete;
  first_waits& operator=(const first_waits&) = delete;

  /// Ends the present wait for memory or for servers, and all later ones: the run is asked to end.
  void interrupt();
  /// Has the present wait look again whether it is over.
  void look_again();

  /// Waits until memory is no longer short, so that active runs can finish first. Fails with errc::limit after `most`,
  /// and with errc::cancelled after interrupt().
  boost::asio::awaitable<result<void>> for_room(milliseconds most);
  /// Waits until `is_over` returns true, at most 5 s. Looks at the beginning and after each look_again(). Returns what
  /// `is_over` returned last.
  boost::asio::awaitable<bool> for_session(std::function<bool()> is_over);
  /// Waits until the tool servers have started, at most for 1 s, or longer as long as `misses_tools` returns true.
  boost::asio::awaitable<void> for_servers(std::function<bool()> misses_tools);

 private:
  struct state;
  std::function<void()> wake_later() const;

  time_source& time_;
  limits::room_queue& room_;
  tools::tool_source& tools_;
  std::shared_ptr<state> state_;
};

}  // namespace mcpbx::daemon::waits
