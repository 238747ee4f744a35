// Transactions of the PostgreSQL journal. An unsynced commit (synchronous_commit off) is in the server's memory when it
// returns: it survives this process, and the server writes it out soon. A synced one is on disk with all before it.
#include "daemon/store/postgres/postgres_store.hpp"

#include "daemon/store/records/record_words.hpp"
#include "mcp/redact/secret.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace mcpbx::daemon::postgres {

std::unexpected<error> postgres_store::failed(const postgres_connection::failure& why) {
  const auto what = redact::redactor::redact(why.what);
  const auto& state = why.state;
  if (state.empty() || state.starts_with("57P"))
    return fail(errc::io, "the connection to " + name() + " was lost (" + what + "); see that the database runs");
  if (why.constraint == "one_run_at_a_time")
    return fail(errc::unavailable, name() + " has another run that is going on in this session; wait for its end");
  if (why.constraint == "one_run_of_a_name")
    return fail(errc::unavailable, name() +
                                       " has another run of this name that is going on; wait for its end, or choose "
                                       "another name");
  if (why.constraint == "records_pkey") return lost_to_another();
  if (state.starts_with("23"))
    return fail(errc::parse, name() + " does not have the run any more, because it was deleted; begin a new one");
  if (state.starts_with("53"))
    return fail(errc::io, name() + " is short of something (" + what + "); see to the database server");
  if (state == "57014" || state == "55P03")
    return fail(errc::io, name() + " took too long (" + what + "); see what keeps the database busy");
  if (state == "25006")
    return fail(errc::io, name() + " cannot be written (" + what + "); set store.url to the primary server");
  if (state == "42501")
    return fail(errc::config, name() + " refuses its user (" + what + "); grant that user the schema " +
                                  options_.schema + " and all in it");
  return fail(errc::io, name() + " failed (" + what + "); see the log of the database server");
}

std::unexpected<error> postgres_store::lost_to_another() const {
  return fail(errc::not_found,
              name() + " has other records in this place: another daemon went on with the run; begin a new one");
}

result<std::string> postgres_store::execute(const std::string& sql) {
  if (!connection_) return not_open();
  auto done = connection_->execute(sql);
  if (!done) return failed(done.error());
  return std::move(*done);
}

result<void> postgres_store::each(const char* sql, const postgres_values& values,
                                  const postgres_connection::row_sink& sink) {
  if (!connection_) return not_open();
  result<void> refused;
  auto done = connection_->run(sql, values, sink, refused);
  if (!done) return failed(done.error());
  return refused;
}

result<bool> postgres_store::first(const char* sql, const postgres_values& values, const row_taker& take) {
  if (!connection_) return not_open();
  auto done = connection_->first(sql, values, take);
  if (!done) return failed(done.error());
  return *done;
}

void postgres_store::roll_back() {
  if (connection_ && connection_->alive()) (void)connection_->execute("ROLLBACK");
}

// Commits. The tag distinguishes a commit from the rollback of a transaction that had failed before.
result<void> postgres_store::commit() {
  auto tag = execute("COMMIT");
  if (!tag) return std::unexpected(std::move(tag.error()));
  if (*tag != "COMMIT") return fail(errc::io, name() + " rolled the records back; see the log of the database server");
  return {};
}

result<void> postgres_store::append(std::span<store::run_batch* const> batches, bool synced) {
  if (!connection_) return not_open();
  auto before = places_of(batches);
  auto done = append_all(batches, synced);
  if (done) return done;
  roll_back();
  take_back(batches, std::move(before));
  return done;
}

// Appends with few round trips for a group of any size: begins runs, inserts all records in one statement, ends runs.
result<void> postgres_store::append_all(std::span<store::run_batch* const> batches, bool synced) {
  auto begun = execute("BEGIN; SET LOCAL synchronous_commit TO " + (synced ? synced_ : std::string("off")));
  if (!begun) return std::unexpected(std::move(begun.error()));
  std::vector<store::run_batch*> missing;
  for (auto* b : batches) {
    if (b->place->id == 0) {
      if (auto done = begin(*b); !done) return done;
      missing.push_back(b);
      continue;
    }
    const auto there = is_there(*b);
    if (!there) return std::unexpected(there.error());
    if (!*there) missing.push_back(b);
  }
  if (auto done = insert(missing); !done) return done;
  for (const auto* b : missing) {
    const auto* last = b->records.empty() ? nullptr : std::get_if<stored::record::run_ended>(&b->records.back());
    if (!last) continue;
    if (auto done = end(*b, *last); !done) return done;
  }
  auto done = commit();
  if (done || connection_->alive()) return done;
  for (auto* b : batches) b->may_be_there = true;
  return fail(errc::io, done.error().message + "; whether the last records are in it is not known");
}

// Begins a run. Takes the row of the session first, so that deleting the session and beginning a run exclude each
// other.
result<void> postgres_store::begin(store::run_batch& batch) {
  auto& place = *batch.place;
  const auto* started =
      batch.records.empty() ? nullptr : std::get_if<stored::record::run_started>(&batch.records.front());
  const stored::record::run_started none;
  const auto& r = started ? *started : none;
  postgres_values values;
  values.add(std::string_view(r.session)).add(std::string_view(place.run)).add(std::string_view(r.principal));
  values.add(std::string_view(r.model)).add(number_).add(batch.at_ms);
  const auto boot = batch.calls_synced ? std::string() : boot_;
  const auto take = [&](const postgres_row& row) { place.id = row.integer(0); };
  place.opening = opening_;
  if (r.session.empty()) {
    auto done = first(
        "INSERT INTO runs(id, session, run, principal, model, owner, started_ms, boot) "
        "VALUES(nextval('run_ids'), $1, $2, $3, $4, $5, $6, nullif($7, '')) RETURNING id",
        values.add(std::string_view(boot)), take);
    return done ? result<void>() : std::unexpected(std::move(done.error()));
  }
  if (r.inherited_count == 0 && r.inherited_after == 0) {
    const auto title = stored::title_of(r);
    auto done = first(
        "WITH s AS (INSERT INTO sessions(id, title, principal, model, created_ms, used_ms, last_run, runs, bytes) "
        "VALUES($1, $7, $3, $4, $6, $6, nextval('run_ids'), 1, 0) ON CONFLICT (id) DO UPDATE SET model=excluded.model, "
        "used_ms=excluded.used_ms, last_run=excluded.last_run, runs=sessions.runs+1 RETURNING last_run) "
        "INSERT INTO runs(id, session, run, principal, model, owner, started_ms, boot) "
        "SELECT last_run, $1, $2, $3, $4, $5, $6, nullif($8, '') FROM s RETURNING id",
        values.add(std::string_view(title)).add(std::string_view(boot)), take);
    return done ? result<void>() : std::unexpected(std::move(done.error()));
  }
  auto done = first(
      "WITH s AS (UPDATE sessions SET model=$4, used_ms=$6, last_run=nextval('run_ids'), runs=runs+1 "
      "WHERE id=$1 AND ($7 = 0 OR last_run=$7) RETURNING last_run) "
      "INSERT INTO runs(id, session, run, principal, model, owner, started_ms, boot) "
      "SELECT last_run, $1, $2, $3, $4, $5, $6, nullif($8, '') FROM s RETURNING id",
      values.add(r.inherited_after).add(std::string_view(boot)), take);
  if (!done) return std::unexpected(std::move(done.error()));
  if (*done) return {};
  auto there = first("SELECT 1 FROM sessions WHERE id=$1", postgres_values().add(std::string_view(r.session)));
  if (!there) return std::unexpected(std::move(there.error()));
  return *there ? went_on(r.session) : was_deleted(r.session);
}

// Checks a run after a reconnect. A server that crashed may have lost unsynced records; a run must not continue behind
// such a gap. If the connection broke during a COMMIT, this batch may be stored already: then exactly these records
// follow the earlier ones, and it returns true.
result<bool> postgres_store::is_there(store::run_batch& batch) {
  auto& place = *batch.place;
  if (std::exchange(place.opening, opening_) == opening_) return false;
  bool has_last = place.next_seq == 0, same = true;
  std::size_t behind = 0;
  auto read =
      each("SELECT seq, body FROM records WHERE run=$1 AND seq >= $2 - 1 ORDER BY seq LIMIT $3",
           postgres_values().add(place.id).add(place.next_seq).add(static_cast<std::int64_t>(batch.texts.size() + 2)),
           [&](const postgres_row& row) -> result<void> {
             if (row.integer(0) < place.next_seq) {
               has_last = true;
             } else {
               same = same && behind < batch.texts.size() && row.text(1) == batch.texts[behind];
               ++behind;
             }
             return {};
           });
  if (!read) return std::unexpected(std::move(read.error()));
  if (!has_last)
    return fail(errc::parse,
                name() + " lost the latest records of the run when its server went down; begin the run anew");
  if (behind != 0 && (!batch.may_be_there || !same || behind != batch.texts.size())) return lost_to_another();
  if (auto noted = note_boot(batch); !noted) return std::unexpected(std::move(noted.error()));
  if (behind == 0) return false;
  for (const auto& text : batch.texts) place.add(text);
  return true;
}

// Notes the server's present start for a run whose records are all there, so that earlier crashes do not matter.
result<void> postgres_store::note_boot(const store::run_batch& batch) {
  auto noted = first("UPDATE runs SET boot=nullif($2, '') WHERE id=$1 AND boot IS DISTINCT FROM nullif($2, '')",
                     postgres_values().add(batch.place->id).add(batch.calls_synced ? std::string_view() : boot_));
  return noted ? result<void>() : std::unexpected(std::move(noted.error()));
}

// Inserts records of runs that still belong to this daemon. A daemon that takes one over has occupied the next number.
result<void> postgres_store::insert(std::span<store::run_batch* const> batches) {
  std::vector<std::int64_t> runs, seqs, times;
  std::vector<std::string_view> texts, names;
  for (auto* b : batches)
    for (const auto& text : b->texts) {
      names.emplace_back(b->place->run);
      runs.push_back(b->place->id);
      seqs.push_back(b->place->next_seq);
      times.push_back(b->at_ms);
      texts.emplace_back(text);
      b->place->add(text);
    }
  if (texts.empty()) return {};
  postgres_values values;
  values.add(std::span<const std::int64_t>(runs)).add(std::span<const std::int64_t>(seqs));
  values.add(std::span<const std::int64_t>(times)).add(std::span<const std::string_view>(texts));
  values.add(std::span<const std::string_view>(names)).add(number_);
  std::int64_t taken = 0;
  auto done = first(
      "WITH i AS (INSERT INTO records(run, seq, at_ms, body) SELECT n.run, n.seq, n.at_ms, n.body "
      "FROM unnest($1, $2, $3, $4, $5) AS n(run, seq, at_ms, body, name) JOIN runs r ON r.id = n.run AND "
      "r.run = n.name AND r.owner = $6 AND r.ended_ms IS NULL RETURNING 1) SELECT count(*) FROM i",
      values, [&](const postgres_row& row) { taken = row.integer(0); });
  if (!done) return std::unexpected(std::move(done.error()));
  return taken == static_cast<std::int64_t>(texts.size()) ? result<void>() : lost_to_another();
}

result<void> postgres_store::end(const store::run_batch& batch, const stored::record::run_ended& last) {
  const auto& place = *batch.place;
  auto bytes = place.bytes;
  if (bytes < 0) {
    auto read = first("SELECT coalesce(sum(octet_length(body)), 0) FROM records WHERE run=$1",
                      postgres_values().add(place.id), [&](const postgres_row& row) { bytes = row.integer(0); });
    if (!read) return std::unexpected(std::move(read.error()));
  }
  auto done = first(
      "WITH r AS (UPDATE runs SET ended_ms=$2, reason=$3 WHERE id=$1 RETURNING session) "
      "UPDATE sessions SET used_ms=$2, bytes=bytes+$4 FROM r WHERE sessions.id=r.session",
      postgres_values().add(place.id).add(batch.at_ms).add(stored::to_string(last.reason)).add(bytes));
  return done ? result<void>() : std::unexpected(std::move(done.error()));
}

result<void> postgres_store::mark_damaged(std::int64_t id, std::int64_t at_ms) {
  auto done = first("UPDATE runs SET ended_ms=$2, reason='damaged' WHERE id=$1", postgres_values().add(id).add(at_ms));
  return done ? result<void>() : std::unexpected(std::move(done.error()));
}

}  // namespace mcpbx::daemon::postgres
