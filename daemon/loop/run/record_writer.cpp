// Writes batches of records, and decides what a failed write means for the run.
#include "daemon/loop/run/record_writer.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::run {
namespace {

constexpr milliseconds outage_told_after{2'000};

}  // namespace

// Prepares for a journal that cannot be reached for a while, as may happen if several daemons share it.
void record_writer::expect_outage() {
  if (!store_.is_shared()) return;
  const auto most = store::run_journal::longest_outage;
  journal_->wait_at_most(options_.detached ? most : std::clamp(options_.time_left(), milliseconds(0), most));
  if (!outage_) outage_ = time_.make_timer();
  outage_->arm(time_.now() + outage_told_after, [this] { options_.on_outage(); });
}

boost::asio::awaitable<bool> record_writer::write(bool synced) {
  expect_outage();
  const auto written = co_await journal_->append(std::exchange(unwritten_, {}), synced);
  if (outage_) outage_->cancel();
  if (!written) on_failure(written.error());
  co_return written.has_value();
}

void record_writer::on_failure(const error& why) {
  broken_ = true;
  fault_ = "the run's journal could not be written: " + redact::redactor::redact(why.message);
  // On the first record this error means that another run took the session first.
  if (!recorded_ && why.code == errc::unavailable) return refuse(why);
  if (recorded_ && why.code == errc::not_found) {
    taken_over_ = true;
    log::warn("run " + options_.run.run + " was taken over by another daemon and ends here");
    return;
  }
  if (was_recorded() && options_.resumes)
    fault_ += "; if the daemon stops before it can record this, the run continues after the next start";
  log::error("run " + options_.run.run + ": " + fault_);
}

void record_writer::when_recorded(runner::recorded told) {
  to_be_told_.push_back(std::move(told));
  if (recorded_) tell_recorded();
}

void record_writer::tell_recorded() {
  if (!recorded_)
    recorded_ = refusal_  ? result<void>(std::unexpected(*refusal_))
                : broken_ ? result<void>(fail(errc::io, "the run was not started: " + fault_))
                          : result<void>();
  for (const auto& told : std::exchange(to_be_told_, {}))
    told(*recorded_ ? result<runner::recorded_run>(options_.run) : std::unexpected(recorded_->error()));
}

}  // namespace mcpbx::daemon::run
