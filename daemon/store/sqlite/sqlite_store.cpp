// Opens and migrates the file, and writes transactions. In WAL mode a commit writes to the log file, which survives the
// process; only a synced one waits for the disk. `synchronous` is NORMAL otherwise, not OFF, so that a checkpoint
// cannot leave a broken file after a loss of power.
#include "daemon/store/sqlite/sqlite_store.hpp"

#include "daemon/store/records/record_words.hpp"
#include "daemon/store/sqlite/joined_log.hpp"
#include "daemon/store/sqlite/sqlite_statement.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

namespace mcpbx::daemon::sqlite {
namespace {

// application_id of our journals: "mcbx".
constexpr std::int64_t application = 0x6d636278;
constexpr std::int64_t last_seq = 0xffffff;  // largest number of a record, see MCPBX_PLACES_OF

// Migrations: entry i turns version i into version i + 1. Entries are only ever added.
constexpr std::array<const char*, sqlite_store::schema_version> migrations{
    "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, session TEXT NOT NULL, "
    "  principal TEXT NOT NULL, model TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER, reason TEXT);"
    "CREATE INDEX runs_by_name ON runs(run);"
    "CREATE INDEX runs_unfinished ON runs(id) WHERE ended_ms IS NULL;"
    "CREATE TABLE records(run INTEGER NOT NULL REFERENCES runs(id), seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, "
    "  body TEXT NOT NULL, PRIMARY KEY(run, seq));",
    // Runs of version 1 had no session; each gets one of its own.
    "UPDATE runs SET session = 'ses_' || lower(hex(randomblob(8))) WHERE session = '';"
    "CREATE TABLE sessions(id TEXT PRIMARY KEY, title TEXT NOT NULL, principal TEXT NOT NULL, model TEXT NOT NULL, "
    "  created_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL, last_run INTEGER NOT NULL, runs INTEGER NOT NULL, "
    "  bytes INTEGER NOT NULL);"
    "INSERT INTO sessions SELECT session, '', min(principal), model, min(started_ms), "
    "  max(coalesce(ended_ms, started_ms)), max(id), count(*), (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) "
    "  FROM records JOIN runs AS own ON records.run = own.id WHERE own.session = runs.session) "
    "  FROM runs GROUP BY session;"
    "CREATE UNIQUE INDEX sessions_by_last_run ON sessions(last_run);"
    "CREATE INDEX runs_by_session ON runs(session, id);"
    "CREATE UNIQUE INDEX one_run_at_a_time ON runs(session) WHERE ended_ms IS NULL AND session <> '';",
    // A record's key combines run and number in one integer, so that most commits write one page; a table with a
    // separate index would need two.
    "CREATE TABLE placed(place INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, body TEXT NOT NULL, "
    "  run INTEGER AS (place >> 24), seq INTEGER AS (place & 0xffffff));"
    "INSERT INTO placed(place, at_ms, body) SELECT run << 24 | seq, at_ms, body FROM records ORDER BY run, seq;"
    "DROP TABLE records; ALTER TABLE placed RENAME TO records;",
    // Unknown for runs of version 3, which are continued as that version promised.
    "ALTER TABLE runs ADD COLUMN boot TEXT;"};

// Entry i inserts i + 1 records.
#define MCPBX_INSERT "INSERT INTO records(place, at_ms, body) VALUES(?, ?, ?)"
constexpr std::array<const char*, 3> inserts{MCPBX_INSERT, MCPBX_INSERT ", (?, ?, ?)",
                                             MCPBX_INSERT ", (?, ?, ?), (?, ?, ?)"};
#undef MCPBX_INSERT

// Returns true if `batch` adds a few records to a run that has begun, and neither takes it over nor ends it.
bool is_plain(const store::run_batch& batch) {
  const auto count = static_cast<std::int64_t>(batch.texts.size());
  return batch.place->id != 0 && count > 0 && batch.texts.size() <= inserts.size() &&
         batch.records.size() == batch.texts.size() && batch.place->next_seq + count - 1 <= last_seq &&
         !std::holds_alternative<stored::record::taken_over>(batch.records.front()) &&
         !std::holds_alternative<stored::record::run_ended>(batch.records.back());
}

}  // namespace

std::unexpected<error> sqlite_store::failed() {
  if (!db_) return failed(SQLITE_NOMEM, ENOMEM);
  return failed(sqlite3_extended_errcode(db_), sqlite3_system_errno(db_));
}

std::unexpected<error> sqlite_store::failed(int code, int system_error) {
  const std::string file = name();
  const std::string why = system_error ? std::string(" (") + std::strerror(system_error) + ")" : std::string();
  if (code == SQLITE_CONSTRAINT_UNIQUE)
    return fail(errc::unavailable, file + " has another run that is going on in this session; wait for its end");
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(errc::io, file + " is in use by another process; end that one, or set store.url to another file");
    case SQLITE_FULL:
      return fail(errc::io, "there is no room on the disk for " + file + "; make room, and the next run is kept again");
    case SQLITE_IOERR:
      return fail(errc::io, file + " could not be read or written (" + sqlite3_errstr(code) +
                                (system_error ? std::string(", ") + std::strerror(system_error) : std::string()) +
                                "); see to its disk, and the next run is kept again");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      if (system_error == EMFILE || system_error == ENFILE)
        return fail(errc::io,
                    file + " cannot be opened" + why +
                        "; raise the daemon's limit of open files (ulimit -n), and the next run is kept again");
      [[fallthrough]];
    case SQLITE_PERM:
      return fail(errc::io, file + " cannot be opened for writing" + why +
                                "; make it and its folder writable, or set store.url to another file");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(errc::io, file + " is damaged or no SQLite file; move it away, and a new one is made");
    case SQLITE_CONSTRAINT:
      return fail(errc::not_found,
                  file + " has other records in this place: another process went on with the run; begin a new one");
    default:
      return fail(errc::io, file + " failed: " + sqlite3_errstr(code) + why +
                                "; the next run opens it anew, and if that fails too, set store.url to another file");
  }
}

bool sqlite_store::exists() {
  return db_ != nullptr || ::access(options_.path.c_str(), F_OK) == 0 || errno != ENOENT;
}

void sqlite_store::close() {
  for (const auto& [sql, handle] : statements_) sqlite3_finalize(handle);
  statements_.clear();
  sqlite3_close(std::exchange(db_, nullptr));
}

// Checks that the file is still in its place. Writes the log into a file that was moved, because close() would not, and
// removes a log that was left behind. If only the log is gone, close() handles it.
result<void> sqlite_store::still_there() {
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) {
    sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    return fail(errc::io, name() +
                              " was moved, deleted or replaced while it was in use; put it back, or what comes next "
                              "opens what is there, and makes a new one where nothing is");
  }
  if (::access(sqlite3_filename_wal(sqlite3_db_filename(db_, "main")), F_OK) == 0 || errno != ENOENT) return {};
  close();
  return open();
}

sqlite3_stmt* sqlite_store::prepared(const char* sql) {
  auto& kept = statements_[sql];
  if (!kept) sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept, nullptr);
  return kept;
}

result<void> sqlite_store::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failed();
  return {};
}

result<void> sqlite_store::run(const char* sql) {
  statement s(*this, sql);
  return run(s);
}

result<void> sqlite_store::run(statement& s) {
  if (s.step() != SQLITE_DONE) return failed();
  return {};
}

result<std::int64_t> sqlite_store::number(const char* sql) {
  statement s(*this, sql);
  if (s.step() != SQLITE_ROW) return failed();
  return s.integer(0);
}

void sqlite_store::roll_back() {
  if (!sqlite3_get_autocommit(db_)) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

result<void> sqlite_store::open() {
  if (db_) return {};
  if (options_.make_folder) {
    std::error_code wrong;
    const auto folder = std::filesystem::path(options_.path).parent_path();
    std::filesystem::create_directories(folder.parent_path(), wrong);
    if (!wrong && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(SQLITE_CANTOPEN, errno);
    if (wrong) return failed(SQLITE_CANTOPEN, wrong.value());
  }
  // Create the file with mode 0600, since SQLite would use the umask. The files beside it inherit the mode.
  const int made = ::open(options_.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0)
    ::close(made);
  else if (errno != EEXIST)
    return failed(SQLITE_CANTOPEN, errno);
  const int opened =
      sqlite3_open_v2(options_.path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, joined_log_vfs());
  auto done = opened == SQLITE_OK ? prepare_file() : result<void>(failed());
  // SQLite opens a write-protected file for reading and fails later with a meaningless error, so check now.
  if (opened == SQLITE_OK && sqlite3_db_readonly(db_, "main") == 1)
    done = failed(SQLITE_READONLY, ::access(options_.path.c_str(), W_OK) == 0 ? 0 : errno);
  if (!done) close();
  return done;
}

result<void> sqlite_store::prepare_file() {
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, options_.busy_ms);
  // Two daemons on one file would take each other's runs for dead. Without sharing, WAL needs no shared memory either.
  if (auto done = execute("PRAGMA locking_mode=EXCLUSIVE"); !done) return done;
  const auto owner = number("PRAGMA application_id");
  if (!owner) return std::unexpected(owner.error());
  const auto pages = number("SELECT count(*) FROM sqlite_schema");
  if (!pages) return std::unexpected(pages.error());
  if (*owner != application && (*owner != 0 || *pages != 0))
    return fail(errc::config, options_.path + " belongs to another program; set store.url to another file");
  // SQLite answers with the mode that is now in effect.
  {
    statement s(*this, "PRAGMA journal_mode=WAL");
    if (s.step() != SQLITE_ROW) return failed();
    if (s.text(0) != "wal")
      return fail(errc::io, name() +
                                " cannot keep a write-ahead log in its folder; set store.url to a file on a disk "
                                "of this machine");
  }
  // A checkpoint waits for the disk twice, a cost that about ten runs share at 2 MiB of log. A larger log is no better:
  // while it grows, each sync must write the file's new length too. A log that grew beyond is cut when it starts over.
  // Deleted content is overwritten.
  if (auto done = execute("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=500; "
                          "PRAGMA journal_size_limit=4194304; PRAGMA cache_size=-1024; PRAGMA secure_delete=ON");
      !done)
    return done;
  full_ = false;
  ++opening_;
  return migrate();
}

result<void> sqlite_store::migrate() {
  const auto known = number("SELECT count(*) FROM sqlite_schema WHERE name = 'schema'");
  if (!known) return std::unexpected(known.error());
  std::int64_t version = 0;
  if (*known > 0) {
    const auto read = number("SELECT max(version) FROM schema");
    if (!read) return std::unexpected(read.error());
    version = *read;
  }
  if (version > schema_version)
    return fail(errc::config, name() + " is of version " + std::to_string(version) +
                                  " and this mcpbx knows versions up to " + std::to_string(schema_version) +
                                  "; use the newer mcpbx, or set store.url to another file");
  if (version == schema_version) return {};
  std::string all = "BEGIN IMMEDIATE;";
  if (*known == 0)
    all += "PRAGMA application_id=" + std::to_string(application) +
           ";CREATE TABLE schema(version INTEGER NOT NULL); INSERT INTO schema VALUES(0);";
  for (auto i = static_cast<std::size_t>(version); i < migrations.size(); ++i) all += migrations[i];
  all += "UPDATE schema SET version=" + std::to_string(schema_version) + "; COMMIT";
  auto done = execute(all.c_str());
  if (!done) roll_back();
  return done;
}

// Sets PRAGMA synchronous, which cannot be changed inside a transaction.
result<void> sqlite_store::set_synced(bool synced) {
  if (!db_) return fail(errc::io, name() + " is not open; the next run opens it");
  if (synced == full_) return {};
  auto done = execute(synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  if (done) full_ = synced;
  return done;
}

result<void> sqlite_store::append(std::span<store::run_batch* const> batches, bool synced) {
  if (auto done = set_synced(synced); !done) return done;
  auto before = places_of(batches);
  auto done = append_all(batches);
  if (done) return done;
  roll_back();
  take_back(batches, std::move(before));
  return done;
}

result<void> sqlite_store::append_all(std::span<store::run_batch* const> batches) {
  if (batches.size() == 1 && is_plain(*batches.front())) return append_plain(*batches.front());
  if (auto done = run("BEGIN IMMEDIATE"); !done) return done;
  for (auto* b : batches)
    if (auto done = append_one(*b); !done) return done;
  return run("COMMIT");
}

// A few records in the middle of a run, as nearly every commit has them, are one statement, which is a transaction
// without BEGIN and COMMIT.
result<void> sqlite_store::append_plain(store::run_batch& batch) {
  auto& place = *batch.place;
  if (auto done = check_place(place); !done) return done;
  statement insert(*this, inserts[batch.texts.size() - 1]);
  int at = 0;
  auto key = place.id << 24 | place.next_seq;
  for (const auto& text : batch.texts) {
    insert.bind(++at, key++).bind(++at, batch.at_ms);
    insert.bind(++at, std::string_view(text));
  }
  auto done = run(insert);
  if (done)
    for (const auto& text : batch.texts) place.add(text);
  return done;
}

result<void> sqlite_store::append_one(store::run_batch& batch) {
  auto& place = *batch.place;
  if (auto done = place.id == 0 ? begin(batch) : check_place(place); !done) return done;
  statement insert(*this, inserts.front());
  for (const auto& text : batch.texts) {
    // Limits keep runs far below this number. The next key would belong to another run.
    if (place.next_seq > last_seq)
      return fail(errc::io, name() + " takes " + std::to_string(last_seq + 1) + " records of a run; begin a new run");
    insert.bind(1, place.id << 24 | place.next_seq).bind(2, batch.at_ms).bind(3, std::string_view(text));
    if (auto done = run(insert); !done) return done;
    insert.reset();
    place.add(text);
  }
  if (!batch.records.empty() && std::holds_alternative<stored::record::taken_over>(batch.records.front())) {
    statement s(*this, "UPDATE runs SET boot=nullif(?, '') WHERE id=?");
    if (auto done = run(s.bind(1, boot_of(batch)).bind(2, place.id)); !done) return done;
  }
  const auto* last = batch.records.empty() ? nullptr : std::get_if<stored::record::run_ended>(&batch.records.back());
  return last ? end(batch, *last) : result<void>();
}

result<void> sqlite_store::begin(store::run_batch& batch) {
  const auto* first =
      batch.records.empty() ? nullptr : std::get_if<stored::record::run_started>(&batch.records.front());
  {
    statement s(
        *this,
        "INSERT INTO runs(run, session, principal, model, started_ms, boot) VALUES(?, ?, ?, ?, ?, nullif(?, ''))");
    s.bind(1, std::string_view(batch.place->run));
    s.bind(2, first ? std::string_view(first->session) : std::string_view());
    s.bind(3, first ? std::string_view(first->principal) : std::string_view());
    s.bind(4, first ? std::string_view(first->model) : std::string_view());
    if (auto done = run(s.bind(5, batch.at_ms).bind(6, boot_of(batch))); !done) return done;
  }
  batch.place->id = sqlite3_last_insert_rowid(db_);
  batch.place->opening = opening_;
  return first && !first->session.empty() ? begin_in_session(*first, batch) : result<void>();
}

// Checks that the run is in this file: after a reopen it may be another file, in which the id belongs to another run.
result<void> sqlite_store::check_place(store::run_place& place) {
  if (std::exchange(place.opening, opening_) == opening_) return {};
  statement s(*this, "SELECT coalesce((SELECT max(place) & 0xffffff FROM records WHERE " MCPBX_PLACES_OF(
                         "?1") "), -1) + 1 FROM runs WHERE id=?1 AND run=?2 AND ended_ms IS NULL");
  const int stepped = s.bind(1, place.id).bind(2, std::string_view(place.run)).step();
  if (stepped != SQLITE_ROW && stepped != SQLITE_DONE) return failed();
  // Later records do no harm: the key refuses an insert before them.
  if (stepped == SQLITE_ROW && s.integer(0) >= place.next_seq) return {};
  return fail(errc::io, name() +
                            " has not got the run's earlier records, because another file is there now; begin the "
                            "run anew");
}

result<void> sqlite_store::begin_in_session(const stored::record::run_started& first, const store::run_batch& batch) {
  if (first.inherited_count == 0 && first.inherited_after == 0) {
    const auto title = stored::title_of(first);
    statement s(*this,
                "INSERT INTO sessions(id, title, principal, model, created_ms, used_ms, last_run, runs, bytes) "
                "VALUES(?1, ?2, ?3, ?4, ?5, ?5, ?6, 1, 0) ON CONFLICT(id) DO UPDATE SET model=excluded.model, "
                "used_ms=excluded.used_ms, last_run=excluded.last_run, runs=runs+1");
    s.bind(1, std::string_view(first.session)).bind(2, std::string_view(title));
    s.bind(3, std::string_view(first.principal)).bind(4, std::string_view(first.model));
    return run(s.bind(5, batch.at_ms).bind(6, batch.place->id));
  }
  statement s(
      *this,
      "UPDATE sessions SET model=?2, used_ms=?3, last_run=?4, runs=runs+1 WHERE id=?1 AND (?5=0 OR last_run=?5)");
  s.bind(1, std::string_view(first.session)).bind(2, std::string_view(first.model));
  auto done = run(s.bind(3, batch.at_ms).bind(4, batch.place->id).bind(5, first.inherited_after));
  if (!done || sqlite3_changes(db_) > 0) return done;
  const auto there = session(first.session);
  if (!there) return std::unexpected(there.error());
  return *there ? went_on(first.session) : was_deleted(first.session);
}

result<void> sqlite_store::end(const store::run_batch& batch, const stored::record::run_ended& last) {
  const auto& place = *batch.place;
  {
    statement s(*this, "UPDATE runs SET ended_ms=?, reason=? WHERE id=?");
    if (auto done = run(s.bind(1, batch.at_ms).bind(2, stored::to_string(last.reason)).bind(3, place.id)); !done)
      return done;
  }
  if (place.bytes >= 0) {
    statement s(*this,
                "UPDATE sessions SET used_ms=?1, bytes=bytes+?2 WHERE id=(SELECT session FROM runs WHERE id=?3)");
    return run(s.bind(1, batch.at_ms).bind(2, place.bytes).bind(3, place.id));
  }
  statement s(*this,
              "UPDATE sessions SET used_ms=?1, bytes=(SELECT sum(length(CAST(body AS BLOB))) FROM runs CROSS JOIN "
              "records ON " MCPBX_PLACES_OF("runs.id") " WHERE runs.session = sessions.id) "
              "WHERE id=(SELECT session FROM runs WHERE id=?2)");
  return run(s.bind(1, batch.at_ms).bind(2, place.id));
}

result<void> sqlite_store::mark_damaged(std::int64_t id, std::int64_t at_ms) {
  statement s(*this, "UPDATE runs SET ended_ms=?, reason='damaged' WHERE id=?");
  return run(s.bind(1, at_ms).bind(2, id));
}

}  // namespace mcpbx::daemon::sqlite
