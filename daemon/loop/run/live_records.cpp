// Records of a run: folds them, has them written, and tells of them.
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"

#include <utility>

namespace mcpbx::daemon {

namespace asio = boost::asio;

void live_run::fold(records batch) {
  if (records_.refusal()) return;
  for (auto& r : batch) {
    if (records_.broken()) {
      apply(r);
      continue;
    }
    apply(records_.add(std::move(r)), false);
  }
}

void live_run::apply(const run_record& r, bool written) {
  if (std::holds_alternative<record::cancel>(r)) todo_.clear();
  core_.apply(r);
  for (const auto& c : core_.commands()) todo_.push_back(c);
  if (std::holds_alternative<record::round_started>(r)) ++around_.counters.rounds;
  if (written)
    told_.tell(r);
  else
    told_.hold(r);
}

// When the store fails, nobody is told what could not be written, nothing of what it would start happens, and the run
// is led to its end in memory: nothing is claimed to be kept that is not.
asio::awaitable<bool> live_run::commit(bool synced) {
  if (records_.all_written()) co_return true;
  const bool kept = co_await keep(synced);
  tell_held();
  co_return kept;
}

asio::awaitable<bool> live_run::keep(bool synced) {
  if (records_.all_written()) co_return true;
  const auto written = co_await append(synced);
  if (written) co_return true;
  if (!records_.refusal())
    apply(record::cancel{stop_reason::store_error, records_.fault()});
  else
    todo_.clear();
  co_return false;
}

void live_run::tell_held() {
  told_.tell_held();
  if (!records_.recorded()) records_.tell_recorded();
}

asio::awaitable<void> live_run::write_end(record::run_ended end) {
  if (!records_.broken()) {
    records_.add(end);
    if (!co_await append(true)) end = {stop_reason::store_error, words::unable(records_.fault())};
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

asio::awaitable<bool> live_run::append(bool synced) {
  const bool written = co_await records_.write(synced);
  if (written) {
    note_kept();
    co_return true;
  }
  for (auto& call : told_.journal_failed()) kept_.lost.insert(std::move(call));
  co_return false;
}

}  // namespace mcpbx::daemon
