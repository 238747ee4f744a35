// The runs that an earlier daemon left and that are to go on, asked for until the journal can be had.
#pragma once
#include "daemon/store/journal.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace mcpbx::daemon {

class left_runs {
 public:
  using taker = std::function<void(unfinished_run)>;
  /// All must outlive it, and it what the journal has yet to answer. Each run goes to `take`, once.
  left_runs(journal& from, time_source& time, taker take) : from_(from), time_(time), take_(std::move(take)) {}

  /// Asks the journal, and where it cannot answer again after 5 s, 10 s, … 60 s. `answered` comes once, when it has and
  /// the runs are taken; it may be empty.
  void ask(std::function<void()> answered = {}) {
    answered_ = std::move(answered);
    ask(first_pause);
  }
  /// Asks no more.
  void stop();

 private:
  static constexpr milliseconds first_pause{5'000}, longest_pause{60'000};
  void ask(milliseconds pause);
  journal& from_;
  time_source& time_;
  taker take_;
  std::function<void()> answered_;
  std::unique_ptr<timer> again_;
  bool stopped_ = false;
};

}  // namespace mcpbx::daemon
