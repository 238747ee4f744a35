// Repeated questions to a journal that is out of reach. A database that starts late, a disk that is mounted later or a
// missing schema can be repaired without a restart of this daemon.
#include "daemon/app/journal/left_runs.hpp"

#include "mcp/support/log.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::journals {

void left_runs::ask(std::function<void()> answered) {
  answered_ = std::move(answered);
  ask_now();
}

void left_runs::when_taken(waiter then) {
  if (taken_) return then({});
  if (waiting_.size() >= max_waiting)
    return then(fail(errc::limit, std::to_string(max_waiting) +
                                      " requests wait for the runs of an earlier daemon; try again later"));
  waiting_.push_back(std::move(then));
  ask_now();
}

void left_runs::ask_now() {
  if (std::exchange(asking_, true)) return;
  from_.take_unfinished([this](result<std::vector<store::unfinished_run>> left) { on_answer(std::move(left)); });
}

void left_runs::on_answer(result<std::vector<store::unfinished_run>> left) {
  asking_ = false;
  const auto waiting = std::exchange(waiting_, {});
  if (!left) {
    const auto& why = left.error().message;
    if (!std::exchange(failed_, true)) log::error("runs that were left do not go on yet: " + why);
    if (taken_)
      ask_in(look_every);
    else if (!armed_)
      ask_in(std::exchange(pause_, std::min(pause_ * 2, longest_pause)));
    for (const auto& then : waiting)
      then(fail(errc::unavailable,
                "an earlier daemon may have left runs, which cannot be told yet, so ask again later: " + why));
    return;
  }
  if (again_) again_->cancel();
  armed_ = false;
  if (std::exchange(failed_, false)) log::info("the journal is there; runs that were left go on now");
  taken_ = true;
  for (auto& run : *left) take_(std::move(run));
  if (const auto answered = std::exchange(answered_, {})) answered();
  for (const auto& then : waiting) then({});
  if (from_.is_shared()) ask_in(look_every);
}

void left_runs::ask_in(milliseconds pause) {
  if (stopped_ || std::exchange(armed_, true)) return;
  if (!again_) again_ = time_.make_timer();
  again_->arm(time_.now() + pause, [this] {
    armed_ = false;
    ask_now();
  });
}

void left_runs::stop() {
  stopped_ = true;
  if (again_) again_->cancel();
}

}  // namespace mcpbx::daemon::journals
