// Transactions. A commit that is not synced is in the server's memory when it returns (synchronous_commit off): it
// survives this process, and the server writes it out within a moment; a synced one is on its disk, with all before it.
#include "daemon/store/postgres_file.hpp"

#include "daemon/store/record_words.hpp"
#include "mcp/support/secret.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace mcpbx::daemon {

std::unexpected<error> postgres_file::failed(const postgres_connection::failure& why) {
  const auto what = redactor::redact(why.what);
  const auto& state = why.state;
  if (state.empty() || state.starts_with("57P"))
    return fail(errc::io, "the connection to " + name() + " was lost (" + what +
                              "); once the database is there again, the next run is kept");
  if (why.constraint == "one_run_at_a_time")
    return fail(errc::unavailable, name() + " has another run that is going on in this session; wait for its end");
  if (why.constraint == "one_run_of_a_name")
    return fail(errc::unavailable, name() +
                                       " has another run of this name that is going on; wait for its end, or choose "
                                       "another name");
  if (why.constraint == "records_pkey")
    return fail(errc::io,
                name() + " has other records in this place: another daemon went on with the run; begin a new one");
  if (state.starts_with("23"))
    return fail(errc::io, name() + " does not have the run any more, because it was deleted; begin a new one");
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

result<std::string> postgres_file::execute(const std::string& sql) {
  if (!connection_) return not_open();
  auto done = connection_->execute(sql);
  if (!done) return failed(done.error());
  return std::move(*done);
}

result<void> postgres_file::each(const char* sql, const postgres_values& values,
                                 const postgres_connection::row_sink& sink) {
  if (!connection_) return not_open();
  result<void> refused;
  auto done = connection_->run(sql, values, sink, refused);
  if (!done) return failed(done.error());
  return refused;
}

result<bool> postgres_file::first(const char* sql, const postgres_values& values, const row_taker& take) {
  if (!connection_) return not_open();
  auto done = connection_->first(sql, values, take);
  if (!done) return failed(done.error());
  return *done;
}

void postgres_file::roll_back() {
  if (connection_ && connection_->alive()) (void)connection_->execute("ROLLBACK");
}

// The tag tells a commit from the rollback of a transaction that had failed before.
result<void> postgres_file::commit() {
  auto tag = execute("COMMIT");
  if (!tag) return std::unexpected(std::move(tag.error()));
  if (*tag != "COMMIT") return fail(errc::io, name() + " rolled the records back; see the log of the database server");
  return {};
}

result<void> postgres_file::append(std::span<run_batch* const> batches, bool synced) {
  if (!connection_) return not_open();
  auto before = places_of(batches);
  auto done = append_all(batches, synced);
  if (done) return done;
  roll_back();
  take_back(batches, std::move(before));
  return done;
}

// A new version of this daemon's row, with what was in it.
result<void> postgres_file::try_write() {
  auto begun = execute("BEGIN; SET LOCAL synchronous_commit TO " + synced_);
  if (!begun) return std::unexpected(std::move(begun.error()));
  auto written = first("UPDATE daemons SET label=label WHERE number=$1", postgres_values().add(number_));
  auto done = written ? commit() : std::unexpected(std::move(written.error()));
  if (!done) roll_back();
  return done;
}

// Few round trips, whatever the size of the group: what begins, all records in one statement, what ends.
result<void> postgres_file::append_all(std::span<run_batch* const> batches, bool synced) {
  auto begun = execute("BEGIN; SET LOCAL synchronous_commit TO " + (synced ? synced_ : std::string("off")));
  if (!begun) return std::unexpected(std::move(begun.error()));
  for (auto* b : batches) {
    if (auto done = b->place->id == 0 ? begin(*b) : check_place(*b); !done) return done;
  }
  if (auto done = insert(batches); !done) return done;
  for (const auto* b : batches) {
    const auto* last = b->records.empty() ? nullptr : std::get_if<record::run_ended>(&b->records.back());
    if (!last) continue;
    if (auto done = end(*b, *last); !done) return done;
  }
  auto done = commit();
  if (done || connection_->alive()) return done;
  return fail(errc::io, done.error().message + "; whether the last records are in it is not known, so the run ends");
}

// The row of the session comes first: who deletes the session waits for it, or is waited for.
result<void> postgres_file::begin(run_batch& batch) {
  auto& place = *batch.place;
  const auto* started = batch.records.empty() ? nullptr : std::get_if<record::run_started>(&batch.records.front());
  const record::run_started none;
  const auto& r = started ? *started : none;
  postgres_values values;
  values.add(std::string_view(r.session)).add(std::string_view(place.run)).add(std::string_view(r.principal));
  values.add(std::string_view(r.model)).add(number_).add(batch.at_ms);
  const auto take = [&](const postgres_row& row) { place.id = row.integer(0); };
  place.opening = opening_;
  if (r.session.empty()) {
    auto done = first(
        "INSERT INTO runs(id, session, run, principal, model, owner, started_ms) "
        "VALUES(nextval('run_ids'), $1, $2, $3, $4, $5, $6) RETURNING id",
        values, take);
    return done ? result<void>() : std::unexpected(std::move(done.error()));
  }
  if (r.inherited_count == 0 && r.inherited_after == 0) {
    const auto title = title_of(r);
    auto done = first(
        "WITH s AS (INSERT INTO sessions(id, title, principal, model, created_ms, used_ms, last_run, runs, bytes) "
        "VALUES($1, $7, $3, $4, $6, $6, nextval('run_ids'), 1, 0) ON CONFLICT (id) DO UPDATE SET model=excluded.model, "
        "used_ms=excluded.used_ms, last_run=excluded.last_run, runs=sessions.runs+1 RETURNING last_run) "
        "INSERT INTO runs(id, session, run, principal, model, owner, started_ms) "
        "SELECT last_run, $1, $2, $3, $4, $5, $6 FROM s RETURNING id",
        values.add(std::string_view(title)), take);
    return done ? result<void>() : std::unexpected(std::move(done.error()));
  }
  auto done = first(
      "WITH s AS (UPDATE sessions SET model=$4, used_ms=$6, last_run=nextval('run_ids'), runs=runs+1 "
      "WHERE id=$1 AND ($7 = 0 OR last_run=$7) RETURNING last_run) "
      "INSERT INTO runs(id, session, run, principal, model, owner, started_ms) "
      "SELECT last_run, $1, $2, $3, $4, $5, $6 FROM s RETURNING id",
      values.add(r.inherited_after), take);
  if (!done) return std::unexpected(std::move(done.error()));
  if (*done) return {};
  auto there = first("SELECT 1 FROM sessions WHERE id=$1", postgres_values().add(std::string_view(r.session)));
  if (!there) return std::unexpected(std::move(there.error()));
  return *there ? went_on(r.session) : was_deleted(r.session);
}

// A server that went down may have lost what was not synced. A run that others' records were lost of must not go on
// behind the gap; where only its connection changed it may.
result<void> postgres_file::check_place(run_batch& batch) {
  auto& place = *batch.place;
  if (std::exchange(place.opening, opening_) == opening_) return {};
  std::int64_t next = 0;
  auto read = first("SELECT coalesce(max(seq) + 1, 0) FROM records WHERE run=$1", postgres_values().add(place.id),
                    [&](const postgres_row& row) { next = row.integer(0); });
  if (!read) return std::unexpected(std::move(read.error()));
  if (next >= place.next_seq) return {};  // where there is more, the primary key refuses
  return fail(errc::io, name() + " lost the latest records of the run when its server went down; begin the run anew");
}

result<void> postgres_file::insert(std::span<run_batch* const> batches) {
  std::vector<std::int64_t> runs, seqs, times;
  std::vector<std::string_view> texts;
  for (auto* b : batches)
    for (const auto& text : b->texts) {
      runs.push_back(b->place->id);
      seqs.push_back(b->place->next_seq++);
      times.push_back(b->at_ms);
      texts.emplace_back(text);
      if (b->place->bytes >= 0) b->place->bytes += static_cast<std::int64_t>(text.size());
    }
  if (texts.empty()) return {};
  postgres_values values;
  values.add(std::span<const std::int64_t>(runs)).add(std::span<const std::int64_t>(seqs));
  values.add(std::span<const std::int64_t>(times)).add(std::span<const std::string_view>(texts));
  auto done = first("INSERT INTO records(run, seq, at_ms, body) SELECT * FROM unnest($1, $2, $3, $4)", values);
  return done ? result<void>() : std::unexpected(std::move(done.error()));
}

result<void> postgres_file::end(const run_batch& batch, const record::run_ended& last) {
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
      postgres_values().add(place.id).add(batch.at_ms).add(to_string(last.reason)).add(bytes));
  return done ? result<void>() : std::unexpected(std::move(done.error()));
}

result<void> postgres_file::mark_damaged(std::int64_t id, std::int64_t at_ms) {
  auto done = first("UPDATE runs SET ended_ms=$2, reason='damaged' WHERE id=$1", postgres_values().add(id).add(at_ms));
  return done ? result<void>() : std::unexpected(std::move(done.error()));
}

}  // namespace mcpbx::daemon
