// Runs that an earlier daemon left and that are to continue. The journal is asked for them until it can be read.
#pragma once
#include "daemon/store/journal.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace mcpbx::daemon::journals {

class left_runs {
 public:
  using taker = std::function<void(store::unfinished_run)>;
  using waiter = std::function<void(result<void>)>;
  /// Most callers that wait for one answer of the journal.
  static constexpr std::size_t max_waiting = 256;
  /// Pause between two questions to a shared journal. Each question also marks this daemon as alive, and must come
  /// several times within the silence after which a daemon's runs are taken over.
  static constexpr milliseconds look_every{15'000};
  /// All arguments must outlive this object, and this object all pending answers of the journal. Passes each run to
  /// `take`, once.
  left_runs(store::journal& from, time_source& time, taker take) : from_(from), time_(time), take_(std::move(take)) {}

  /// Asks the journal, and repeats the question after 5 s, 10 s, … 60 s while it fails. Calls `answered` (may be empty)
  /// once, when the runs are taken. A shared journal is asked further, for runs of daemons that have gone.
  void ask(std::function<void()> answered = {});
  /// Calls `then` once the runs are taken: at once, or after a question that is sent to the journal now.
  /// errc::unavailable: the journal cannot be read, with the reason; errc::limit: too many wait.
  void when_taken(waiter then);
  /// Stops the repeated questions.
  void stop();

 private:
  static constexpr milliseconds first_pause{5'000}, longest_pause{60'000};
  void ask_now();
  void on_answer(result<std::vector<store::unfinished_run>> left);
  void ask_in(milliseconds pause);
  store::journal& from_;
  time_source& time_;
  taker take_;
  std::function<void()> answered_;
  std::vector<waiter> waiting_;
  std::unique_ptr<timer> again_;
  milliseconds pause_ = first_pause;  // before the next question
  bool asking_ = false, armed_ = false;
  bool failed_ = false, taken_ = false, stopped_ = false;
};

}  // namespace mcpbx::daemon::journals
