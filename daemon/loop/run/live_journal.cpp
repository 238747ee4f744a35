// How a run writes its records. A record is folded at once and written before anything that it starts leaves the
// process: so records that follow from one another without anybody else's doing (a reply and the intents of its calls,
// the last result and the next round) are one commit. What they tell is held back until then.
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>

namespace mcpbx::daemon {

namespace asio = boost::asio;

namespace {
constexpr milliseconds outage_told_after{2'000};
}

void live_run::fold(records batch) {
  if (refused_) return;
  for (auto& r : batch) {
    if (store_broken_) {
      apply(r);
      continue;
    }
    unwritten_.push_back(std::move(r));
    holding_ = true;
    apply(unwritten_.back());
    holding_ = false;
  }
}

void live_run::apply(const run_record& r) {
  if (std::holds_alternative<record::cancel>(r)) todo_.clear();
  core_.apply(r);
  for (const auto& c : core_.commands()) todo_.push_back(c);
  std::visit([this](const auto& one) { tell(one); }, r);
}

// When the store fails, nobody is told what could not be written, nothing of what it would start happens, and the run
// is led to its end in memory: nothing is claimed to be kept that is not.
asio::awaitable<bool> live_run::commit(bool synced) {
  if (unwritten_.empty()) co_return true;
  const bool kept = co_await keep(synced);
  tell_held();
  co_return kept;
}

asio::awaitable<bool> live_run::keep(bool synced) {
  if (unwritten_.empty()) co_return true;
  const auto written = co_await append(synced);
  if (written) co_return true;
  if (!refused_)
    apply(record::cancel{stop_reason::store_error, store_fault_});
  else
    todo_.clear();
  co_return false;
}

void live_run::tell_held() {
  for (auto& e : std::exchange(held_, {})) feed_->push(std::move(e));
  if (!recorded_) tell_recorded();
}

asio::awaitable<void> live_run::write_end(record::run_ended end) {
  if (!store_broken_) {
    unwritten_.emplace_back(end);
    if (!co_await append(true)) end = {stop_reason::store_error, words::unable(store_fault_)};
    tell_held();
  }
  apply(end);
}

// Nothing is folded while an append is waited for.
void live_run::note_kept() {
  kept_.session = true;
  kept_.messages = core_.messages().size();
  kept_.calls = core_.calls().size();
  kept_.rounds = core_.rounds();
}

// A journal that daemons share may be out of reach for a while. A detached run has been acknowledged, so it waits as
// long as any may; another one no longer than its own time.
void live_run::expect_outage() {
  if (!around_.store.is_shared()) return;
  const auto most = run_journal::longest_outage;
  journal_->wait_at_most(request_.detach ? most : std::clamp(clock_.left(), milliseconds(0), most));
  if (!outage_) outage_ = around_.time.make_timer();
  // Before what is held back until it is written: this is of no record.
  outage_->arm(around_.time.now() + outage_told_after, [this] {
    if (tells_status())
      feed_->push({run_event::kind::status, {}, {}, event_json::status(words::waits_for_journal, {})});
  });
}

asio::awaitable<bool> live_run::append(bool synced) {
  expect_outage();
  const auto written = co_await journal_->append(std::exchange(unwritten_, {}), synced);
  if (outage_) outage_->cancel();
  if (!written) {
    store_broken_ = true;
    store_fault_ = "the run's journal could not be written: " + redactor::redact(written.error().message);
    // Before its first record: another run had its session sooner.
    if (!recorded_ && written.error().code == errc::unavailable) {
      refused_ = written.error();
    } else if (recorded_ && written.error().code == errc::not_found) {
      taken_over_ = true;
      log::warn("run " + name() + " goes on in another daemon, which has taken it over, and ends here");
    } else {
      if (was_recorded() && request_.detach && around_.resume_detached && around_.store.keeps_sessions())
        store_fault_ += "; if the daemon ends before it can record this, the run goes on when it is started again";
      log::error("run " + name() + ": " + store_fault_);
    }
    for (const auto& e : held_) {
      if (e.type == run_event::kind::tool_call) told_calls_.erase(e.call);
      if (e.type == run_event::kind::tool_result) kept_.lost.insert(e.call);
    }
    held_.clear();
  } else {
    note_kept();
  }
  co_return written.has_value();
}

}  // namespace mcpbx::daemon
