// Work of the store's lane. The first operation first closes the runs that an earlier process left; later, and now and
// then, expired sessions are removed. A store that fails is closed, and the next operation opens it anew.
#include "daemon/store/store_worker.hpp"

#include "daemon/store/records/record_format.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr std::int64_t tidy_every_ms = 3'600'000, tidy_every_bytes = 4 << 20;
constexpr std::size_t removed_at_once = 64;
constexpr std::int64_t removed_bytes_at_once = 16 << 20;

std::unexpected<error> in_use(const session_row& row) {
  return fail(errc::unavailable, "the session " + row.id + " is in use by the run " + row.running +
                                     (row.owner.empty() ? "" : ", owned by " + row.owner) +
                                     "; wait for its end, or cancel it" + (row.owner.empty() ? "" : " there"));
}

// Translates errors for callers. In this file errc::io is a fault of the store and errc::parse one of its records;
// callers get errc::io for both.
error outwards(error e) {
  if (e.code == errc::parse) e.code = errc::io;
  return e;
}

// Returns false for an error that says something about one run or session, and nothing about the store.
bool is_of_store(const error& e) {
  return e.code != errc::unavailable && e.code != errc::not_found && e.code != errc::parse;
}

}  // namespace

store_worker::store_worker(std::unique_ptr<run_store> store, record_rules rules, retention keep)
    : store_(std::move(store)), rules_(std::move(rules)), keep_(keep) {}

std::unexpected<error> store_worker::no_session(const std::string& id) const {
  return fail(errc::not_found,
              "there is no session \"" + id + "\" in " + store_->name() + "; `mcpbx sessions` lists those that it has");
}

void store_worker::note_write(const result<void>& outcome, bool synced) {
  if (outcome) {
    if (synced || !unwritten_synced_) unwritten_.reset();
  } else if (is_of_store(outcome.error())) {
    unwritten_synced_ = synced || (unwritten_ && unwritten_synced_);
    unwritten_ = outcome.error();
  }
}

// Opens the store and closes left runs. `look` also checks that the store is still in its place, which costs a moment.
result<void> store_worker::get_ready(std::int64_t now_ms, bool look) {
  auto done = store_->open();
  const bool opened = done.has_value();
  if (done && look) done = store_->still_there();
  const bool moved = opened && !done;  // the next operation makes a new store
  if (done && !recovered_) done = recover(now_ms);
  unopened_ = done || moved ? std::optional<error>() : done.error();
  if (!done) store_->close();
  return done;
}

// Gets ready to read. Returns false if there is no store yet.
result<bool> store_worker::ready_to_read(std::int64_t now_ms) {
  if (!store_->exists()) return false;
  if (auto done = get_ready(now_ms, true); !done) return std::unexpected(std::move(done.error()));
  close_left(now_ms);
  return true;
}

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
result<bool> store_worker::sort_out(const run_row& row, bool fenced, std::int64_t now_ms) {
  const bool lost = !fenced && lost_power(row);
  auto known = rules_.goes_on ? store_->records(row.id) : result<std::vector<run_record>>();
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
  if (!known->empty() && std::holds_alternative<record::run_ended>(known->back())) return {};
  run_batch rest;
  rest.place = std::make_shared<run_place>(run_place{run, id, static_cast<std::int64_t>(known->size()), -1});
  const auto written = known->size();
  if (power_lost) known->emplace_back(record::taken_over{{}, true});
  rest.records = rules_.recovery ? rules_.recovery(*known, same_process) : std::vector<run_record>();
  rest.records.insert(rest.records.begin(), known->begin() + static_cast<std::ptrdiff_t>(written), known->end());
  rest.at_ms = now_ms;
  const bool ends = !rest.records.empty() && std::holds_alternative<record::run_ended>(rest.records.back());
  if (!ends) rest.records.emplace_back(record::run_ended{stop_reason::interrupted, ""});
  for (const auto& r : rest.records) rest.texts.push_back(to_text(r));
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
    b.records.emplace_back(record::taken_over{{}, lost_power(one.row)});
    b.texts.push_back(to_text(b.records.front()));
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
  const auto found = std::ranges::find(*rows, id, &run_row::id);
  if (found == rows->end() || found->run != place.run) return false;
  if (place.id == 0 && found->started_ms != place.tried_ms) return false;
  place.id = found->id;
  return true;
}

void store_worker::write(std::span<append* const> group, std::int64_t now_ms) {
  // Check the store's place at synced and first records only: every run ends with a synced one.
  const bool look = std::ranges::any_of(group, [](const auto* a) { return a->synced || a->batch.place->id == 0; });
  if (auto ready = get_ready(now_ms, look); !ready) {
    for (auto* a : group) {
      a->outcome = ready;
      note_write(ready, a->synced);
    }
    return;
  }
  close_left(now_ms);  // before their rows could be reused, and because one may block a session
  std::vector<run_batch*> all;
  bool synced = false;
  for (auto* a : group) {
    all.push_back(&a->batch);
    synced = synced || a->synced;
    for (const auto& text : a->batch.texts) written_ += static_cast<std::int64_t>(text.size());
  }
  auto outcome = store_->append(all, synced);
  const bool alone = outcome || group.size() == 1;
  bool broken = false;
  for (auto* a : group) {
    // One append may be at fault; the others must not fail with it.
    run_batch* const one = &a->batch;
    a->outcome = alone ? outcome : store_->append({&one, 1}, a->synced);
    broken = broken || (!a->outcome && is_of_store(a->outcome.error()));
  }
  for (auto* a : group)
    if (!a->outcome || !broken) note_write(a->outcome, a->synced);
  if (broken) store_->close();
  to_tidy_ = !broken;
}

result<session_row> store_worker::find_session(const std::string& session) {
  auto row = checked(store_->session(session));
  if (!row) return std::unexpected(std::move(row.error()));
  if (!*row) return no_session(session);
  return std::move(**row);
}

// Returns a session without an active run. errc::unavailable: a run is active in it.
result<session_row> store_worker::free_session(const std::string& session, std::int64_t now_ms) {
  auto row = find_session(session);
  if (row && !row->owner.empty()) {
    if (auto taken = take_abandoned(now_ms); !taken) return std::unexpected(std::move(taken.error()));
    row = find_session(session);
  }
  if (row && !row->running.empty()) return in_use(*row);
  return row;
}

// Reads the runs of a session before `before_id`, one after another, so that memory holds the records of one run only.
// The results that can be read on pass from each run to the next.
result<std::vector<kept_run>> store_worker::runs_of(const std::string& session, std::int64_t before_id) {
  auto rows = checked(store_->runs_of(session));
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::erase_if(*rows, [&](const auto& row) { return row.id >= before_id; });
  std::vector<kept_run> runs;
  runs.reserve(rows->size());
  for (auto& row : *rows) runs.push_back({std::move(row), {}, {}});
  auto next = runs.begin();
  record_reader reader;
  std::vector<run_record> records;
  kept_run* reading = nullptr;
  std::vector<record::whole_result>* results = nullptr;  // results of the previous run
  const auto fold = [&] {
    if (reading && reading->damage.empty() && rules_.fold) {
      auto* first = records.empty() ? nullptr : std::get_if<record::run_started>(&records.front());
      if (first && results) first->inherited_results = std::move(*results);
      reading->folded = rules_.fold(records);
      results = &reading->folded.results;
    }
    records.clear();
    reading = nullptr;
  };
  // Records come in the order of their runs.
  const auto go_to = [&](std::int64_t run) {
    fold();
    for (; next != runs.end() && next->row.id < run; ++next) next->damage = "it has no records";
    if (next != runs.end() && next->row.id == run) reading = &*next++;
  };
  auto done = checked(store_->read_session(session, [&](const record_text& r) -> result<void> {
    if (!reading || reading->row.id != r.run) go_to(r.run);
    if (!reading) return {};  // the run was begun by another daemon meanwhile
    auto& its = *reading;
    if (!its.damage.empty()) return {};
    if (r.seq != static_cast<std::int64_t>(records.size())) {
      its.damage = "record " + std::to_string(records.size()) + " is missing";
      return {};
    }
    auto one = reader.read(r.text);
    if (one)
      records.push_back(std::move(*one));
    else
      its.damage = "record " + std::to_string(r.seq) + ": " + one.error().message;
    return {};
  }));
  if (!done) return std::unexpected(std::move(done.error()));
  go_to(std::numeric_limits<std::int64_t>::max());
  return runs;
}

result<journal::history> store_worker::history_before(const std::string& session, std::int64_t run_id) {
  auto runs = runs_of(session, run_id);
  if (!runs) return std::unexpected(std::move(runs.error()));
  journal::history all;
  for (auto& one : *runs) {
    if (one.row.ended_ms == 0)  // the run was begun by another daemon meanwhile
      return fail(errc::unavailable, "the session " + session + " is in use by the run " + one.row.run +
                                         "; wait for its end, or cancel it");
    all.last_run = one.row.id;
    if (!one.damage.empty())
      return fail(errc::parse, "the session " + session + " cannot be gone on with, because its run " + one.row.run +
                                   " cannot be read (" + one.damage + "); begin a new one");
    std::ranges::move(one.folded.messages, std::back_inserter(all));
    all.terms = std::move(one.folded.terms);
    all.results = std::move(one.folded.results);
    std::ranges::move(one.folded.tools, std::back_inserter(all.tools));
  }
  return all;
}

result<journal::history> store_worker::load_history(const std::string& session, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  if (!*ready) return no_session(session);
  auto row = free_session(session, now_ms);
  if (!row) return std::unexpected(std::move(row.error()));
  auto all = history_before(session, std::numeric_limits<std::int64_t>::max());
  if (!all) return std::unexpected(outwards(std::move(all.error())));
  all->principal = std::move(row->principal);
  return all;
}

result<void> store_worker::inherit(const run_row& row, std::vector<run_record>& records) {
  auto* first = records.empty() ? nullptr : std::get_if<record::run_started>(&records.front());
  if (!first || first->inherited_count == 0) return {};
  auto before = history_before(row.session, row.id);
  if (!before) return std::unexpected(std::move(before.error()));
  if (before->size() != first->inherited_count)
    return fail(errc::parse, "the run " + row.run + " began with " + std::to_string(first->inherited_count) +
                                 " messages of its session " + row.session + ", and now " + store_->name() + " has " +
                                 std::to_string(before->size()) + "; `mcpbx sessions show " + row.session +
                                 "` shows what is left");
  first->inherited_results = std::move(before->results);
  first->inherited_tools = std::move(before->tools);
  first->inherited = std::move(*before);
  return {};
}

result<std::vector<session_row>> store_worker::list_sessions(const session_query& q, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  return *ready ? checked(store_->sessions(q)) : std::vector<session_row>();
}

result<session_contents> store_worker::read_session(const std::string& session, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  if (!*ready) return no_session(session);
  auto row = find_session(session);
  if (!row) return std::unexpected(std::move(row.error()));
  auto runs = runs_of(session, std::numeric_limits<std::int64_t>::max());
  if (!runs) return std::unexpected(std::move(runs.error()));
  return session_contents{std::move(*row), std::move(*runs)};
}

result<void> store_worker::erase_session(const std::string& session, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  if (!*ready) return no_session(session);
  auto row = free_session(session, now_ms);
  if (!row) return std::unexpected(std::move(row.error()));
  auto erased = checked(store_->erase({&session, 1}));
  note_write(erased);
  return erased;
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

result<std::vector<run_record>> store_worker::find_ended(const std::string& run, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  auto row = *ready ? checked(store_->find_run(run)) : std::optional<run_row>();
  if (!row) return std::unexpected(std::move(row.error()));
  if (!*row)
    return fail(errc::not_found, "no run named \"" + run + "\" has ended in " + store_->name() +
                                     "; `mcpbx sessions` lists what was kept");
  if ((*row)->ended_ms == 0)
    return fail(errc::unavailable, "the run " + run + " has no end yet in " + store_->name() + "; ask again later");
  auto records = checked(store_->records((*row)->id));
  if (!records && records.error().code == errc::io) return records;
  if (!records)
    return fail(errc::io, "the run " + run + " in " + store_->name() + " cannot be read (" + records.error().message +
                              "); begin a new one");
  if (auto filled = inherit(**row, *records); !filled) return std::unexpected(outwards(std::move(filled.error())));
  return records;
}

result<std::optional<std::string>> store_worker::find_owner(const std::string& run, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  return *ready ? checked(store_->owner_of(run)) : std::optional<std::string>();
}

// Selects sessions to remove: first by age, then by size, the longest unused first, until a tenth of the limit is free.
result<std::vector<session_row>> store_worker::to_be_removed(std::int64_t now_ms) {
  if (keep_.max_age_ms > 0) {
    auto old = store_->unused_sessions(now_ms - keep_.max_age_ms, removed_at_once);
    if (!old || !old->empty()) return old;
  }
  if (keep_.max_bytes == 0) return std::vector<session_row>();
  auto total = store_->kept_bytes();
  if (!total) return std::unexpected(std::move(total.error()));
  if (*total <= keep_.max_bytes) return std::vector<session_row>();
  auto rows = store_->unused_sessions(std::numeric_limits<std::int64_t>::max(), removed_at_once);
  if (!rows) return rows;
  std::size_t count = 0;
  for (; count < rows->size() && *total > keep_.max_bytes - keep_.max_bytes / 10; ++count)
    *total -= (*rows)[count].bytes;
  rows->resize(count);
  return rows;
}

// Removes expired sessions, a bounded piece at a time, since appends wait for it.
void store_worker::tidy(std::int64_t now_ms) {
  if (!std::exchange(to_tidy_, false)) return;
  if (keep_.max_age_ms == 0 && keep_.max_bytes == 0) return;
  if (now_ms < tidy_at_ms_ && written_ < std::min(tidy_every_bytes, std::max<std::int64_t>(keep_.max_bytes / 64, 1)))
    return;
  auto rows = to_be_removed(now_ms);
  std::vector<std::string> ids;
  std::int64_t bytes = 0;
  if (rows)
    for (const auto& row : *rows) {
      if (!ids.empty() && bytes + row.bytes > removed_bytes_at_once) break;
      bytes += row.bytes;
      ids.push_back(row.id);
    }
  const bool more = rows && (ids.size() == removed_at_once || ids.size() < rows->size());
  auto done = checked(rows ? (ids.empty() ? result<void>() : store_->erase(ids)) : std::unexpected(rows.error()));
  if (!done)
    log::warn("sessions that are kept too long could not be removed yet, which is tried again: " +
              done.error().message);
  if (done && !ids.empty())
    log::info("removed " + std::to_string(ids.size()) + " sessions, as store.maxAgeDays and store.maxBytes say");
  tidy_at_ms_ = more && done ? now_ms : now_ms + tidy_every_ms;
  written_ = 0;
}

}  // namespace mcpbx::daemon
