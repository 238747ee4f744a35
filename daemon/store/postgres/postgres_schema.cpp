// Connects, creates and migrates the schema, and registers the daemon among those that share it.
//  Each daemon holds an advisory lock with its number while it is connected. This detects two daemons with one
// identity. A daemon that gets its lock again after a lost connection knows that the old connection is over, with any
// COMMIT on it. A daemon that gets the lock of another one knows that the other is not connected.
#include "daemon/store/postgres/postgres_store.hpp"
#include "daemon/store/records/record_format.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

namespace mcpbx::daemon::postgres {
namespace {

// Migrations: entry i turns version i into version i + 1. Entries are only ever added.
constexpr std::array<const char*, postgres_store::schema_version> migrations{
    "CREATE TABLE daemons(number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, "
    "  label text NOT NULL);"
    "CREATE SEQUENCE run_ids;"
    "CREATE TABLE sessions(id text PRIMARY KEY, title text NOT NULL, principal text NOT NULL, model text NOT NULL, "
    "  created_ms bigint NOT NULL, used_ms bigint NOT NULL, last_run bigint NOT NULL UNIQUE, runs bigint NOT NULL, "
    "  bytes bigint NOT NULL);"
    "CREATE TABLE runs(id bigint PRIMARY KEY, run text NOT NULL, session text NOT NULL, principal text NOT NULL, "
    "  model text NOT NULL, owner integer NOT NULL REFERENCES daemons(number), started_ms bigint NOT NULL, "
    "  ended_ms bigint, reason text);"
    "CREATE INDEX runs_by_name ON runs(run);"
    "CREATE INDEX runs_by_session ON runs(session, id);"
    "CREATE INDEX runs_unfinished ON runs(owner) WHERE ended_ms IS NULL;"
    "CREATE UNIQUE INDEX one_run_of_a_name ON runs(run) WHERE ended_ms IS NULL;"
    "CREATE UNIQUE INDEX one_run_at_a_time ON runs(session) WHERE ended_ms IS NULL AND session <> '';"
    "CREATE TABLE records(run bigint NOT NULL REFERENCES runs(id), seq bigint NOT NULL, at_ms bigint NOT NULL, "
    "  body text NOT NULL, PRIMARY KEY(run, seq));",
    // Unknown for runs of version 1, which are continued as that version promised.
    "ALTER TABLE runs ADD COLUMN boot text;"
    "ALTER TABLE daemons ADD COLUMN seen_ms bigint NOT NULL DEFAULT 0;"};

constexpr milliseconds first_pause{100}, longest_pause{5'000};

}  // namespace

// Returns the first of the two numbers of an advisory lock. The second is a daemon's number, or 0 for migrations.
std::int64_t postgres_store::lock_class() const {
  std::uint32_t hash = 2'166'136'261u;  // FNV-1a
  for (const char c : "mcpbx/" + options_.schema) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619u;
  return static_cast<std::int32_t>(hash);
}

result<void> postgres_store::open() {
  if (connection_ && connection_->quiet()) return {};
  close();
  if (failures_ > 0 && options_.now() < next_try_) return std::unexpected(last_failure_);
  auto done = connect();
  if (done) {
    failures_ = 0;
    ++opening_;
    return done;
  }
  close();
  const auto pause = std::min(longest_pause, first_pause * (1 << std::min(failures_, 10)));
  ++failures_;
  next_try_ = options_.now() + pause;
  last_failure_ = done.error();
  return done;
}

void postgres_store::close() {
  if (connection_ && old_backends_.size() < 8) old_backends_.push_back(connection_->backend());
  connection_.reset();
}

result<void> postgres_store::connect() {
  const auto pq = libpq::load();
  if (!pq) return std::unexpected(pq.error());
  auto url = options_.url();
  if (!url) return std::unexpected(std::move(url.error()));
  auto target = postgres_target_of(**pq, *url);
  if (!target) return std::unexpected(std::move(target.error()));
  place_ = target->place;
  redact::redactor::add(redact::secret(target->password));
  auto settings = options_.connection;
  settings.url = std::move(*url);
  auto made = postgres_connection::open(**pq, settings);
  if (!made)
    return fail(errc::io, name() + " cannot be reached (" + redact::redactor::redact(made.error().what) +
                              "); see that the database runs and that store.url is right");
  connection_ = std::move(*made);
  if (auto done = prepare_session(); !done) return done;
  if (auto done = migrate(); !done) return done;
  return take_place();
}

result<void> postgres_store::prepare_session() {
  if (const auto encoding = connection_->parameter("server_encoding"); encoding != "UTF8")
    return fail(errc::config, name() + " has the encoding " + encoding +
                                  " and must have UTF8; create a database with `createdb -E UTF8 -T template0 NAME`");
  const auto ms = [](milliseconds m) { return std::to_string(m.count()); };
  // A daemon that is stopped inside a transaction must lose its locks, and the loss of its machine must be noticed.
  auto done = execute("SET search_path TO " + options_.schema + "; SET statement_timeout TO " +
                      ms(options_.statement_limit) + "; SET lock_timeout TO " + ms(options_.lock_limit) +
                      "; SET idle_in_transaction_session_timeout TO 30000; SET standard_conforming_strings TO on; "
                      "SET default_transaction_isolation TO 'read committed'; SET tcp_keepalives_idle TO 30; "
                      "SET tcp_keepalives_interval TO 10; SET tcp_keepalives_count TO 3");
  if (!done) return std::unexpected(std::move(done.error()));
  // A replicated database may demand more than its own disk for a synced commit, but not less.
  std::string mode;
  auto shown =
      first("SELECT current_setting('synchronous_commit'), extract(epoch FROM pg_postmaster_start_time())::text", {},
            [&](const postgres_row& row) {
              mode = row.owned(0);
              boot_ = row.owned(1);
            });
  if (!shown) return std::unexpected(std::move(shown.error()));
  synced_ = mode == "off" ? "on" : mode;
  return {};
}

std::unexpected<error> postgres_store::no_permission(const postgres_connection::failure& why) {
  if (why.state == "42501")
    return fail(errc::config, name() + " does not let its user make the schema " + options_.schema + " (" + why.what +
                                  "); `CREATE SCHEMA " + options_.schema +
                                  " AUTHORIZATION` that user, as an owner of "
                                  "the database");
  return failed(why);
}

/// Returns the schema's version; 0: no schema, or an empty one; -1: a schema of another program.
result<std::int64_t> postgres_store::version() {
  std::int64_t found = 0;
  auto known = first(
      "SELECT CASE WHEN to_regclass($1 || '.schema_version') IS NOT NULL THEN 1 "
      "WHEN EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace($1)) THEN -1 ELSE 0 END",
      postgres_values().add(std::string_view(options_.schema)),
      [&](const postgres_row& row) { found = row.integer(0); });
  if (!known) return std::unexpected(std::move(known.error()));
  if (found < 1) return found;
  auto read =
      first("SELECT max(version) FROM schema_version", {}, [&](const postgres_row& row) { found = row.integer(0); });
  if (!read) return std::unexpected(std::move(read.error()));
  return found;
}

result<void> postgres_store::migrate() {
  auto have = version();
  if (have && *have == schema_version) return {};
  // Another daemon may migrate at the same time: take the lock and read the version again.
  auto all = [&]() -> result<void> {
    if (auto begun = execute("BEGIN"); !begun) return std::unexpected(std::move(begun.error()));
    auto locked = first("SELECT pg_advisory_xact_lock($1::integer, 0)", postgres_values().add(lock_class()));
    if (!locked) return std::unexpected(std::move(locked.error()));
    have = version();
    if (!have) return std::unexpected(std::move(have.error()));
    if (*have < 0)
      return fail(errc::config, name() + " has a schema " + options_.schema +
                                    " of another program; set store.url to another database");
    if (*have > schema_version)
      return fail(errc::config, name() + " is of version " + std::to_string(*have) +
                                    " and this mcpbx knows versions up to " + std::to_string(schema_version) +
                                    "; use the newer mcpbx, or set store.url to another database");
    std::string sql;
    if (*have == 0) {
      bool there = false;
      auto looked =
          first("SELECT to_regnamespace($1) IS NOT NULL", postgres_values().add(std::string_view(options_.schema)),
                [&](const postgres_row& row) { there = row.text(0) == "t"; });
      if (!looked) return std::unexpected(std::move(looked.error()));
      if (!there) sql = "CREATE SCHEMA " + options_.schema + ";";
      sql += "CREATE TABLE schema_version(version integer NOT NULL); INSERT INTO schema_version VALUES(0);";
    }
    for (auto i = static_cast<std::size_t>(*have); i < migrations.size(); ++i) sql += migrations[i];
    sql += "UPDATE schema_version SET version=" + std::to_string(schema_version);
    if (auto made = connection_->execute(sql); !made) return no_permission(made.error());
    return commit();
  };
  auto done = all();
  if (!done) roll_back();
  return done;
}

result<void> postgres_store::take_place() {
  const auto id = options_.owner();
  if (!id) return std::unexpected(id.error());
  std::string holder;
  const auto known = [&](const postgres_row& row) {
    number_ = row.integer(0);
    holder = row.owned(1);
  };
  const auto ours = postgres_values().add(std::string_view(*id)).add(std::string_view(options_.label));
  auto there =
      first("SELECT number, label FROM daemons WHERE id=$1", postgres_values().add(std::string_view(*id)), known);
  if (there && !*there)
    there = first(
        "INSERT INTO daemons(id, label) VALUES($1, $2) ON CONFLICT (id) DO UPDATE SET label=excluded.label "
        "RETURNING number, label",
        ours, known);
  if (!there) return std::unexpected(std::move(there.error()));
  const auto lock = postgres_values().add(lock_class()).add(number_);
  // Earlier connections may be dead on our side only, so end them on the server.
  if (!old_backends_.empty()) {
    auto which = lock;
    auto ended = each(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
        "classid = $1::integer::oid AND objid = $2::integer::oid AND pid = ANY($3)",
        which.add(std::span<const std::int64_t>(old_backends_)), {});
    if (!ended) return ended;
  }
  result<void> unused;
  auto locked = connection_->run("SELECT pg_advisory_lock($1::integer, $2::integer)", lock, {}, unused);
  if (!locked && locked.error().state == "55P03")
    return fail(errc::io, name() + " is in use by another daemon with the same state directory (" + holder +
                              "); end that one, or set XDG_STATE_HOME for this one");
  if (!locked) return failed(locked.error());
  old_backends_.clear();
  auto told = first("UPDATE daemons SET label=$2 WHERE id=$1 AND label<>$2", ours);
  if (!told) return std::unexpected(std::move(told.error()));
  // If the database refuses writes, the next write reports it.
  if (auto seen = touch(); !seen && !connection_->alive()) return seen;
  return {};
}

// Records a sign of life by the server's clock, which all daemons share.
result<void> postgres_store::touch() {
  auto done = first("UPDATE daemons SET seen_ms=(extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE number=$1",
                    postgres_values().add(number_));
  return done ? result<void>() : std::unexpected(std::move(done.error()));
}

// Finds runs of daemons that are gone. Time in which the server was down does not count, since no daemon could give a
// sign of life then.
result<std::vector<stored::run_row>> postgres_store::abandoned_runs(std::int64_t now_ms) {
  std::vector<std::int64_t> owners;
  auto found = each(
      "SELECT number FROM daemons d WHERE number <> $1 AND EXISTS (SELECT FROM runs WHERE owner = d.number AND "
      "ended_ms IS NULL) AND (extract(epoch FROM clock_timestamp()) * 1000)::bigint - $2 >= "
      "greatest(seen_ms, (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint) ORDER BY number",
      postgres_values().add(number_).add(options_.abandoned_after.count()),
      [&](const postgres_row& row) -> result<void> {
        owners.push_back(row.integer(0));
        return {};
      });
  if (!found) return std::unexpected(std::move(found.error()));
  std::vector<stored::run_row> all;
  for (const auto owner : owners) {
    auto taken = take_from(owner, now_ms);
    if (!taken) {
      roll_back();
      return taken;
    }
    std::ranges::move(*taken, std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &stored::run_row::id);
  return all;
}

// Takes over the runs of a daemon in one transaction, holding its lock so that it cannot come back meanwhile, and
// appends a record after which that daemon cannot write.
result<std::vector<stored::run_row>> postgres_store::take_from(std::int64_t owner, std::int64_t now_ms) {
  if (auto begun = execute("BEGIN"); !begun) return std::unexpected(std::move(begun.error()));
  bool gone = false;
  auto tried = first("SELECT pg_try_advisory_xact_lock($1::integer, $2::integer)",
                     postgres_values().add(lock_class()).add(owner),
                     [&](const postgres_row& row) { gone = row.text(0) == "t"; });
  if (!tried) return std::unexpected(std::move(tried.error()));
  const auto whole = stored::to_text(stored::record::taken_over{options_.label, false});
  const auto lost = stored::to_text(stored::record::taken_over{options_.label, true});
  std::vector<stored::run_row> taken;
  if (gone) {
    auto rows = run_rows(
        "WITH r AS (SELECT id, boot FROM runs WHERE owner=$2 AND ended_ms IS NULL FOR UPDATE), "
        "i AS (INSERT INTO records(run, seq, at_ms, body) SELECT r.id, (SELECT coalesce(max(seq) + 1, 0) FROM records "
        "WHERE records.run = r.id), $3, CASE WHEN r.boot <> $4 THEN $5 ELSE $6 END FROM r) "
        "UPDATE runs SET owner=$1, boot=CASE WHEN runs.boot IS NOT NULL THEN $4 END FROM r WHERE runs.id = r.id "
        "RETURNING runs.id, run, session, principal, model, started_ms, ended_ms, reason, runs.boot",
        postgres_values()
            .add(number_)
            .add(owner)
            .add(now_ms)
            .add(std::string_view(boot_))
            .add(std::string_view(lost))
            .add(std::string_view(whole)));
    if (!rows) return rows;
    taken = std::move(*rows);
  }
  if (auto done = commit(); !done) return std::unexpected(std::move(done.error()));
  return taken;
}

}  // namespace mcpbx::daemon::postgres
