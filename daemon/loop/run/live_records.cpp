// Records of a run: applies them, has them written, and sends their events.
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"

#include <utility>

namespace mcpbx::daemon::run {

namespace asio = boost::asio;

// Applies records and queues them for the journal. After a failed write they are applied only in memory.
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

void live_run::apply(const stored::run_record& r, bool written) {
  if (std::holds_alternative<stored::record::cancel>(r)) todo_.clear();
  core_.apply(r);
  for (const auto& c : core_.commands()) todo_.push_back(c);
  if (std::holds_alternative<stored::record::round_started>(r)) ++around_.counters.rounds;
  if (written)
    announcements_.tell(r);
  else
    announcements_.hold(r);
}

// If the write fails, its records send no events and start nothing, and the run is brought to its end in memory. So no
// caller is told of a record that is not stored.
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
    apply(stored::record::cancel{stored::stop_reason::store_error, records_.fault()});
  else
    todo_.clear();
  co_return false;
}

void live_run::tell_held() {
  announcements_.tell_held();
  if (!records_.recorded()) records_.tell_recorded();
}

asio::awaitable<void> live_run::write_end(stored::record::run_ended end) {
  if (!records_.broken()) {
    records_.add(end);
    if (!co_await append(true)) end = {stored::stop_reason::store_error, loop::words::unable(records_.fault())};
    tell_held();
  }
  apply(end);
}

// Notes the state that is stored. No record is applied during an append, so that is the present state of the core.
void live_run::note_kept() {
  kept_.session = true;
  kept_.messages = core_.facts().messages.size();
  kept_.calls = core_.facts().calls.size();
  kept_.rounds = core_.facts().rounds;
}

asio::awaitable<bool> live_run::append(bool synced) {
  const bool written = co_await records_.write(synced);
  if (written) {
    note_kept();
    co_return true;
  }
  for (auto& call : announcements_.journal_failed()) kept_.lost.insert(std::move(call));
  co_return false;
}

}  // namespace mcpbx::daemon::run
