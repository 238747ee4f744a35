// Work of the store's lane. The first operation first closes the runs that an earlier process left
// (store_recovery.cpp); now and then, expired sessions are removed. A store that fails is closed, and the next
// operation opens it anew.
#include "daemon/store/store_worker.hpp"

#include "daemon/store/records/record_format.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace mcpbx::daemon::store {
namespace {

constexpr std::int64_t tidy_every_ms = 3'600'000, tidy_every_bytes = 4 << 20;
constexpr std::size_t removed_at_once = 64;
constexpr std::int64_t removed_bytes_at_once = 16 << 20;

std::unexpected<error> in_use(const stored::session_row& row) {
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

result<stored::session_row> store_worker::find_session(const std::string& session) {
  auto row = checked(store_->session(session));
  if (!row) return std::unexpected(std::move(row.error()));
  if (!*row) return no_session(session);
  return std::move(**row);
}

// Returns a session without an active run. errc::unavailable: a run is active in it.
result<stored::session_row> store_worker::free_session(const std::string& session, std::int64_t now_ms) {
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
result<std::vector<stored::kept_run>> store_worker::runs_of(const std::string& session, std::int64_t before_id) {
  auto rows = checked(store_->runs_of(session));
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::erase_if(*rows, [&](const auto& row) { return row.id >= before_id; });
  std::vector<stored::kept_run> runs;
  runs.reserve(rows->size());
  for (auto& row : *rows) runs.push_back({std::move(row), {}, {}});
  auto next = runs.begin();
  stored::record_reader reader;
  std::vector<stored::run_record> records;
  stored::kept_run* reading = nullptr;
  std::vector<stored::record::whole_result>* results = nullptr;  // results of the previous run
  const auto fold = [&] {
    if (reading && reading->damage.empty() && rules_.fold) {
      auto* first = records.empty() ? nullptr : std::get_if<stored::record::run_started>(&records.front());
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

result<void> store_worker::inherit(const stored::run_row& row, std::vector<stored::run_record>& records) {
  auto* first = records.empty() ? nullptr : std::get_if<stored::record::run_started>(&records.front());
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

result<std::vector<stored::session_row>> store_worker::list_sessions(const stored::session_query& q,
                                                                     std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  return *ready ? checked(store_->sessions(q)) : std::vector<stored::session_row>();
}

result<stored::session_contents> store_worker::read_session(const std::string& session, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  if (!*ready) return no_session(session);
  auto row = find_session(session);
  if (!row) return std::unexpected(std::move(row.error()));
  auto runs = runs_of(session, std::numeric_limits<std::int64_t>::max());
  if (!runs) return std::unexpected(std::move(runs.error()));
  return stored::session_contents{std::move(*row), std::move(*runs)};
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

result<std::vector<stored::run_record>> store_worker::find_ended(const std::string& run, std::int64_t now_ms) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  auto row = *ready ? checked(store_->find_run(run)) : std::optional<stored::run_row>();
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
result<std::vector<stored::session_row>> store_worker::to_be_removed(std::int64_t now_ms) {
  if (keep_.max_age_ms > 0) {
    auto old = store_->unused_sessions(now_ms - keep_.max_age_ms, removed_at_once);
    if (!old || !old->empty()) return old;
  }
  if (keep_.max_bytes == 0) return std::vector<stored::session_row>();
  auto total = store_->kept_bytes();
  if (!total) return std::unexpected(std::move(total.error()));
  if (*total <= keep_.max_bytes) return std::vector<stored::session_row>();
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

}  // namespace mcpbx::daemon::store
