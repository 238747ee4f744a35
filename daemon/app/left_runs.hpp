// The runs that an earlier daemon left and that are to go on, asked for until the journal can be had.
#pragma once
#include "daemon/store/journal.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

class left_runs {
 public:
  using taker = std::function<void(unfinished_run)>;
  using waiter = std::function<void(result<void>)>;
  /// How many can wait for one answer of the journal.
  static constexpr std::size_t max_waiting = 256;
  /// The pause between two questions to a journal that daemons share, each of which also says there that this one is
  /// alive: several times in the time of silence after which a daemon's runs are taken over.
  static constexpr milliseconds look_every{15'000};
  /// All must outlive it, and it what the journal has yet to answer. Each run goes to `take`, once.
  left_runs(journal& from, time_source& time, taker take) : from_(from), time_(time), take_(std::move(take)) {}

  /// Asks the journal, and where it cannot answer again after 5 s, 10 s, … 60 s. `answered` comes once, when it has and
  /// the runs are taken; it may be empty. A journal that daemons share is asked on from then, for runs of daemons that
  /// have gone.
  void ask(std::function<void()> answered = {});
  /// Tells `then` once that the runs are taken: at once when they are, else when the journal, which is asked now, has
  /// answered. errc::unavailable, with the reason, when it cannot; errc::limit when too many wait.
  void when_taken(waiter then);
  /// Asks no more by itself.
  void stop();

 private:
  static constexpr milliseconds first_pause{5'000}, longest_pause{60'000};
  void ask_now();
  void on_answer(result<std::vector<unfinished_run>> left);
  void ask_in(milliseconds pause);
  journal& from_;
  time_source& time_;
  taker take_;
  std::function<void()> answered_;
  std::vector<waiter> waiting_;
  std::unique_ptr<timer> again_;
  milliseconds pause_ = first_pause;  // before it is asked again
  bool asking_ = false, armed_ = false;
  bool failed_ = false, taken_ = false, stopped_ = false;
};

}  // namespace mcpbx::daemon
