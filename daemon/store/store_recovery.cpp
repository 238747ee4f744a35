// Runs that another process left without an end: each is closed, or set aside to be continued here.
#include "daemon/store/records/record_format.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mcpbx::daemon::store {

result<void> store_worker::recover(std::int64_t now_ms) {
  auto rows = store_->unfinished_runs();
  if (!rows) return std::unexpected(std::move(rows.error()));
  going_on_.clear();
  taken_.clear();
  std::size_t closed = 0;
  for (auto& row : *rows) {
    const auto goes_on = sort_out(row, false, now_ms);
    if (!goes_on) return std::unexpected(goes_on.error());
    closed += *goes_on ? 0 : 1;
  }
  if (closed > 0) log::warn("closed " + std::to_string(closed) + " runs that an earlier daemon left without an end");
  if (auto taken = take_abandoned(now_ms); !taken) return taken;
  recovered_ = true;
  return {};
}

// Sets a run aside to be handed out and returns true, or closes it.
result<bool> store_worker::sort_out(const stored::run_row& row, bool fenced, std::int64_t now_ms) {
  const bool lost = !fenced && lost_power(row);
  auto known = rules_.goes_on ? store_->records(row.id) : result<std::vector<stored::run_record>>();
  if (rules_.goes_on && known && rules_.goes_on(*known)) {
    if (auto filled = inherit(row, *known); filled) {
      going_on_.push_back({row, std::move(*known), fenced});
      return true;
    } else if (filled.error().code == errc::io) {
      return std::unexpected(std::move(filled.error()));
    } else {
      log::warn("run " + row.run + " cannot continue after the restart: " + filled.error().message);
    }
  }
  if (auto done = close_run(row.id, row.run, now_ms, false, lost); !done)
    return std::unexpected(std::move(done.error()));
  return false;
}

result<void> store_worker::close_run(std::int64_t id, const std::string& run, std::int64_t now_ms, bool same_process,
                                     bool power_lost) {
  auto known = store_->records(id);
  if (!known && known.error().code == errc::io) return std::unexpected(known.error());
  if (!known) {
    log::error("the records of run " + run + " in " + store_->name() + " cannot be read and stay as they are (" +
               known.error().message + "); `mcpbx sessions` shows the run as damaged");
    return store_->mark_damaged(id, now_ms);
  }
  // The end may be stored although its append failed: the sync failed, the COMMIT got no answer, or it was too late.
  if (!known->empty() && std::holds_alternative<stored::record::run_ended>(known->back())) return {};
  run_batch rest;
  rest.place = std::make_shared<run_place>(run_place{run, id, static_cast<std::int64_t>(known->size()), -1});
  const auto written = known->size();
  if (power_lost) known->emplace_back(stored::record::taken_over{{}, true});
  rest.records = rules_.recovery ? rules_.recovery(*known, same_process) : std::vector<stored::run_record>();
  rest.records.insert(rest.records.begin(), known->begin() + static_cast<std::ptrdiff_t>(written), known->end());
  rest.at_ms = now_ms;
  const bool ends = !rest.records.empty() && std::holds_alternative<stored::record::run_ended>(rest.records.back());
  if (!ends) rest.records.emplace_back(stored::record::run_ended{stored::stop_reason::interrupted, ""});
  for (const auto& r : rest.records) rest.texts.push_back(stored::to_text(r));
  run_batch* const one = &rest;
  auto done = store_->append({&one, 1}, true);
  if (done && !same_process && rules_.closed) rules_.closed(*known, rest.records);
  return done;
}

// Takes over runs of daemons that are gone. Closes those that will not be continued; the others wait for
// take_unfinished().
result<void> store_worker::take_abandoned(std::int64_t now_ms) {
  auto rows = checked(store_->abandoned_runs(now_ms));
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::ranges::move(*rows, std::back_inserter(taken_));
  for (; !taken_.empty(); taken_.pop_front()) {
    const auto run = taken_.front().run;
    const auto goes_on = checked(sort_out(taken_.front(), true, now_ms));
    if (!goes_on) return std::unexpected(goes_on.error());
    log::warn((*goes_on ? "took over the run " : "closed the run ") + run + ", whose daemon is gone");
  }
  return {};
}

// Appends a taken_over to each run, so that no other process can write behind it. This also proves that the store
// accepts writes.
result<void> store_worker::fence(std::int64_t now_ms) {
  std::vector<run_batch> all;
  std::vector<run_batch*> batches;
  all.reserve(going_on_.size());
  for (const auto& one : going_on_) {
    if (one.fenced) continue;
    run_batch b;
    b.place = std::make_shared<run_place>(
        run_place{one.row.run, one.row.id, static_cast<std::int64_t>(one.records.size()), -1});
    b.records.emplace_back(stored::record::taken_over{{}, lost_power(one.row)});
    b.texts.push_back(stored::to_text(b.records.front()));
    b.at_ms = now_ms;
    b.calls_synced = one.row.boot.empty();
    batches.push_back(&all.emplace_back(std::move(b)));
  }
  if (batches.empty()) return {};
  const auto whole = store_->append(batches, true);
  auto next = all.begin();
  for (auto one = going_on_.begin(); one != going_on_.end();) {
    if (one->fenced) {
      ++one;
      continue;
    }
    auto& batch = *next++;
    run_batch* const alone = &batch;
    const auto done = whole ? whole : store_->append({&alone, 1}, true);
    if (done) {
      note_write(done);
      one->fenced = true;
      one->records.push_back(std::move(batch.records.front()));
      ++one;
    } else if (done.error().code == errc::not_found) {
      log::warn("run " + one->row.run + " does not go on here: " + done.error().message);
      one = going_on_.erase(one);
    } else {
      note_write(done);
      store_->close();
      return done;
    }
  }
  return {};
}

// Closes left runs. The next operation tries again those that cannot be closed now.
void store_worker::close_left(std::int64_t now_ms) {
  std::erase_if(left_open_, [&](const auto& place) {
    const auto found = find_left(*place);
    if (!found || !*found) return found.has_value();
    const auto closed = close_run(place->id, place->run, now_ms, true);
    note_write(closed);
    if (!closed)
      log::warn("run " + place->run + " could not be closed yet, which is tried again: " + closed.error().message);
    return closed.has_value();
  });
}

// Returns true if the run is in the store. A start may be stored although its sync or connection failed, and a stored
// one may be gone with its file.
result<bool> store_worker::find_left(run_place& place) {
  const auto id = place.id != 0 ? place.id : place.tried_id;
  if (id == 0) return false;
  const auto rows = store_->unfinished_runs();
  if (!rows) return std::unexpected(rows.error());
  const auto found = std::ranges::find(*rows, id, &stored::run_row::id);
  if (found == rows->end() || found->run != place.run) return false;
  if (place.id == 0 && found->started_ms != place.tried_ms) return false;
  place.id = found->id;
  return true;
}

result<std::vector<store_worker::unfinished>> store_worker::take_unfinished(std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  if (store_->is_shared()) {
    auto touched = checked(store_->touch());
    note_write(touched);
    if (!touched) return std::unexpected(std::move(touched.error()));
    if (auto taken = take_abandoned(now_ms); !taken) return std::unexpected(std::move(taken.error()));
  }
  // A run that is handed out would end at the first record that cannot be written, so keep it here until writes work.
  if (auto fenced = fence(now_ms); !fenced) return std::unexpected(std::move(fenced.error()));
  return std::exchange(going_on_, {});
}

}  // namespace mcpbx::daemon::store
