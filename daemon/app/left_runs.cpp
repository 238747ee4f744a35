// Whatever keeps the journal away (a database that starts after this daemon, a disk that is mounted later, a schema
// that somebody has yet to make) can pass without a restart of this daemon.
#include "daemon/app/left_runs.hpp"

#include "mcp/support/log.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

void left_runs::ask(milliseconds pause) {
  from_.take_unfinished([this, pause](result<std::vector<unfinished_run>> left) {
    if (left) {
      if (pause > first_pause) log::info("the journal is there; runs that were left go on now");
      for (auto& run : *left) take_(std::move(run));
      if (const auto answered = std::exchange(answered_, {})) answered();
      return;
    }
    if (pause == first_pause) log::error("runs that were left do not go on yet: " + left.error().message);
    if (stopped_) return;
    if (!again_) again_ = time_.make_timer();
    again_->arm(time_.now() + pause, [this, pause] { ask(std::min(pause * 2, longest_pause)); });
  });
}

void left_runs::stop() {
  stopped_ = true;
  if (again_) again_->cancel();
}

}  // namespace mcpbx::daemon
