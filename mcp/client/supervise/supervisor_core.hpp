// Decides when one tool server is started, restarted and ended (docs/guarantees.md, G2, G5, G8, G20): the rules alone,
// given the time and random numbers. A shell carries out next_command() and reports events.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <deque>

namespace mcpbx::mcp::supervise {

class supervisor_core {
 public:
  struct options {
    bool disabled = false, lazy = false;
    bool unusable = false;  ///< cannot be started at all: failed from the beginning, and never tried
    milliseconds start_timeout{30'000};
    milliseconds idle_stop{0};  ///< 0: never
  };
  enum class command : std::uint8_t {
    none,
    open,             ///< open a connection
    start_timed_out,  ///< it took too long to become ready; commands that end it follow
    ask_to_end,       ///< the steps of `ending`
    insist,
    force,
    abandon  ///< the process is still there: forget it; counts as ended
  };

  static constexpr milliseconds first_back_off{200}, longest_back_off{60'000}, healthy{60'000};
  static constexpr int loop_ends = 5;
  static constexpr milliseconds loop_window{10'000};
  static constexpr milliseconds insist_after{1'000}, force_after{3'000}, abandon_after{2'000};
  /// Time before force for servers that are ended for their behaviour.
  static constexpr milliseconds hurried_force_after{2'000};
  /// Distance between restarts of servers that ended together.
  static constexpr milliseconds stagger{10};
  /// Time to a planned start within which a call may wait for it.
  static constexpr milliseconds near_start{500};

  supervisor_core(options o, random_source& random);

  // Events. `crowd`: the number of other servers that have ended just before.
  void start(time_point now);
  /// Starts a server that is lazy or was stopped for idleness, because it is needed.
  void wake(time_point now);
  void ready(time_point now);
  /// Reports that no connection could be opened (no such program, an unset reference). Without `try_again`, only
  /// restart() tries again. The next try comes after `wait` at the earliest.
  void not_opened(time_point now, std::size_t crowd, bool try_again, milliseconds wait = {});
  /// Reports that the connection is open and the conversation could not be opened.
  void refused(time_point now);
  /// Reports that the server hangs or closed a stream.
  void lost(time_point now);
  /// Reports that the connection has ended, or that there was none to end.
  void gone(time_point now, std::size_t crowd);
  /// Reports that a ready server wants a new session, which then begins at once and is no restart. Returns false, and
  /// does nothing, if that happens too often.
  bool renew(time_point now);
  void restart(time_point now);
  /// Starts a server at once that waits for its next try.
  void retry_now(time_point now, std::size_t crowd);
  void busy(bool has_calls, time_point now);
  void stop(time_point now);

  /// Returns the next step. Call it again until it returns `none`.
  command next_command(time_point now);
  /// Returns the time at which next_command() has a step to take without an event, or `never`.
  time_point next_time() const;

  /// Returns the state. `failed` only while there is neither a connection nor a start: a retry is `starting`, and a
  /// connection that could not be used is `restarting` until it is gone.
  clients::server_state state() const noexcept;
  /// Returns true if the last start failed and the server has not been ready since. Ends do not count; they lead to a
  /// crash loop.
  bool start_failed() const noexcept { return phase_ != phase::off && trouble_ == clients::server_state::failed; }
  /// Returns true if a call may wait for this server to become ready.
  bool will_be_ready(time_point now) const noexcept;
  bool ended() const noexcept { return phase_ == phase::off; }
  bool ending() const noexcept { return phase_ == phase::ending; }
  /// Returns the time of the next planned start, or `never`.
  time_point next_try() const noexcept { return phase_ == phase::waiting ? at_ : never; }
  std::uint64_t restarts() const noexcept { return restarts_; }

 private:
  enum class phase : std::uint8_t { off, dormant, waiting, starting, up, ending };
  /// The step that follows once the connection being ended is gone.
  enum class then : std::uint8_t { back_off, launch, sleep, stay_off };

  void launch_at(time_point when);
  void plan_restart(time_point now, std::size_t crowd, milliseconds least = {});
  void note_end(time_point now);
  void end(time_point now, then next, bool hurried);
  double jitter();
  double fresh_jitter();

  options options_;
  random_source& random_;
  phase phase_ = phase::off;
  then then_ = then::back_off;
  clients::server_state trouble_ =
      clients::server_state::starting;  // restarting, crash_loop or failed once something went wrong
  time_point at_ = never;               // waiting: time of the start; starting: its limit
  time_point ask_at_ = never, insist_at_ = never, force_at_ = never, abandon_at_ = never;
  time_point up_since_ = never, idle_since_ = never;
  std::deque<time_point> ends_;
  int failures_ = 0;
  double last_jitter_ = 1;
  std::uint64_t launches_ = 0, restarts_ = 0;
  rate_limit renewals_{0.1, 3};
  bool busy_ = false, is_restart_ = false, stopped_ = false;
};

}  // namespace mcpbx::mcp::supervise
