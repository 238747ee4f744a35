// The event loop of the daemon, the idle timer, and the steps of a graceful stop.
#include "daemon/app/daemon_life.hpp"

#include "daemon/app/process/process_limits.hpp"
#include "daemon/app/process/run_loop.hpp"
#include "mcp/client/supervise/supervisor_core.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>

namespace mcpbx::daemon::app {
namespace {

constexpr milliseconds stop_grace{3'000};  // time for running work to end after the order to stop
constexpr unsigned whole_stop_s = 8;       // limit of the whole stop, even if a part hangs
using stop_times = mcp::supervise::supervisor_core;
static_assert(stop_grace + stop_times::insist_after + stop_times::force_after <= std::chrono::seconds(whole_stop_s),
              "servers must get their SIGKILL before the daemon ends");

}  // namespace

daemon_life::daemon_life(base_parts& base, tool_servers& servers, run_parts& runs, reloading& reload,
                         entrances& ways_in, milliseconds idle_exit)
    : base_(base),
      servers_(servers),
      runs_(runs),
      reload_(reload),
      ways_in_(ways_in),
      idle_exit_(idle_exit),
      watchdog_(base.time) {
  base_.stop.carried_out_by([this](const std::string& why) { stop(why); });
  next_signal();
  if (idle_exit_.count() == 0) return;
  idle_timer_ = base_.time.make_timer();
  ways_in_.door().on_callers([this](std::size_t) { watch_idle(); });
  runs_.on_run_ended([this] { watch_idle(); });
  watch_idle();
}

int daemon_life::run() {
  forget_program_pages();  // start-up is over, and its memory is no longer needed
  const int bugs = process::run_loop(base_.io, [this] { stop("an internal error"); });
  if (bugs == process::most_bugs) return 1;  // the stop itself fails; the destructors end the rest
  log::info("stopped");
  return bugs == 0 ? 0 : 1;
}

void daemon_life::next_signal() {
  base_.signals.async_wait([this](const boost::system::error_code& wrong, int number) {
    if (wrong) return;
    on_signal(number);
    next_signal();
  });
}

void daemon_life::on_signal(int number) {
  if (number == SIGHUP) {
    reload_.ask("SIGHUP", [](const result<front::reload_report>&) {});  // the log tells the outcome
  } else if (number == SIGCHLD) {
    servers_.child_ended();
  } else if (number == SIGUSR1) {
    base_.log.rotate();
  } else if (stopping_) {
    std::_Exit(0);  // waits for nothing; the keeper ends the tool servers when our end of its socket closes
  } else {
    stop(number == SIGTERM ? "SIGTERM" : "SIGINT");
  }
}

// Stops gracefully (G20): refuses new work and gives running work stop_grace to end. Runs end first, because they may
// still call their tools. The servers are then closed in order, within the time that is left.
void daemon_life::stop(const std::string& why) {
  if (std::exchange(stopping_, true)) return;
  log::info("stopping: " + why);
  process::end_at_the_latest(whole_stop_s);  // the keeper ends the remaining servers
  process::notify_service_manager("STOPPING=1");
  ways_in_.begin_closing();
  reload_.stop();
  runs_.left().stop();
  const time_point until = base_.time.now() + stop_grace;
  boost::asio::co_spawn(base_.io, runs_.runs().shut_down(stop_grace), [this, until](const std::exception_ptr&) {
    const auto left = std::chrono::ceil<milliseconds>(until - base_.time.now());
    servers_.supervisor().stop([this] { finish(); }, std::max(left, milliseconds(0)));
  });
}

void daemon_life::finish() {
  ways_in_.door().close();
  servers_.shut_down();
  base_.signals.cancel();
  if (idle_timer_) idle_timer_->cancel();
  boost::asio::post(base_.io, [this] { base_.io.stop(); });
}

bool daemon_life::is_idle() const {
  return ways_in_.door().callers() == 0 && runs_.runs().active() == 0;
}

// Restarts the idle timer. Called whenever a caller comes or leaves and when a run ends.
void daemon_life::watch_idle() {
  if (!is_idle()) return idle_timer_->cancel();
  idle_timer_->arm(base_.time.now() + idle_exit_, [this] {
    if (is_idle()) stop("no callers for " + std::to_string(idle_exit_.count() / 1000) + " s");
  });
}

}  // namespace mcpbx::daemon::app
