// Opening, the schema, and transactions. WAL: a commit is a write to the log file, which survives the process; only a
// synced one waits for the disk. `synchronous` stays at NORMAL in between, not OFF, so that a checkpoint cannot leave a
// broken file behind after a power loss.
#include "daemon/store/sqlite_file.hpp"

#include "daemon/store/record_format.hpp"
#include "daemon/store/record_words.hpp"

#include <sqlite3.h>

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

namespace mcpbx::daemon {
namespace {

// "mcbx": tells a journal of ours from any other SQLite file.
constexpr std::int64_t application = 0x6d636278;

// What makes version i + 1 of version i. Entries are only ever added.
constexpr std::array<const char*, sqlite_file::schema_version> migrations{
    "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, session TEXT NOT NULL, "
    "  principal TEXT NOT NULL, model TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER, reason TEXT);"
    "CREATE INDEX runs_by_name ON runs(run);"
    "CREATE INDEX runs_unfinished ON runs(id) WHERE ended_ms IS NULL;"
    "CREATE TABLE records(run INTEGER NOT NULL REFERENCES runs(id), seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, "
    "  body TEXT NOT NULL, PRIMARY KEY(run, seq));"};

}  // namespace

// A statement that is used once.
class sqlite_file::statement {
 public:
  statement(sqlite3* db, const char* sql) { sqlite3_prepare_v2(db, sql, -1, &handle_, nullptr); }
  ~statement() { sqlite3_finalize(handle_); }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  statement& bind(int at, std::int64_t value) {
    if (handle_) sqlite3_bind_int64(handle_, at, value);
    return *this;
  }
  /// `text` must live until the statement has run.
  statement& bind(int at, std::string_view text) {
    if (handle_)
      sqlite3_bind_text64(handle_, at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
  }
  int step() { return handle_ ? sqlite3_step(handle_) : SQLITE_ERROR; }
  std::int64_t integer(int column) { return sqlite3_column_int64(handle_, column); }
  std::string_view text(int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
                 : std::string_view();
  }

 private:
  sqlite3_stmt* handle_ = nullptr;
};

std::unexpected<error> sqlite_file::failed() {
  if (!db_) return failed(SQLITE_NOMEM, ENOMEM);
  return failed(sqlite3_extended_errcode(db_), sqlite3_system_errno(db_));
}

std::unexpected<error> sqlite_file::failed(int code, int system_error) {
  const std::string file = "the journal " + options_.path;
  const std::string why = system_error ? std::string(" (") + std::strerror(system_error) + ")" : std::string();
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(errc::io, file + " is in use by another process; end that one, or set store.url to another file");
    case SQLITE_FULL:
      return fail(errc::io, "there is no room on the disk for " + file + "; make room, and the next run is kept again");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return fail(errc::io, file + " cannot be opened for writing" + why +
                                "; make it and its folder writable, or set store.url to another file");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(errc::io, file + " is damaged or no SQLite file; move it away, and a new one is made");
    case SQLITE_CONSTRAINT:
      return fail(errc::io, file + " has other records in this place: another process went on with the run");
    default:
      return fail(errc::io, file + " failed: " + sqlite3_errstr(code) + why);
  }
}

void sqlite_file::close() {
  sqlite3_finalize(std::exchange(insert_record_, nullptr));
  sqlite3_close(std::exchange(db_, nullptr));
}

result<void> sqlite_file::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failed();
  return {};
}

result<std::int64_t> sqlite_file::number(const char* sql) {
  statement s(db_, sql);
  if (s.step() != SQLITE_ROW) return failed();
  return s.integer(0);
}

result<void> sqlite_file::open() {
  if (db_) return {};
  if (options_.make_folder) {
    std::error_code wrong;
    const auto folder = std::filesystem::path(options_.path).parent_path();
    std::filesystem::create_directories(folder.parent_path(), wrong);
    if (!wrong && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(SQLITE_CANTOPEN, errno);
    if (wrong) return failed(SQLITE_CANTOPEN, wrong.value());
  }
  // SQLite would take the umask's mode; the files beside it then get the mode of this one.
  const int made = ::open(options_.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0)
    ::close(made);
  else if (errno != EEXIST)
    return failed(SQLITE_CANTOPEN, errno);
  const int opened = sqlite3_open_v2(options_.path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  auto done = opened == SQLITE_OK ? prepare_file() : result<void>(failed());
  if (!done) close();
  return done;
}

result<void> sqlite_file::prepare_file() {
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, options_.busy_ms);
  // Two daemons at one file would each take the other's runs for dead ones; and without sharing, WAL needs no
  // shared memory.
  if (auto done = execute("PRAGMA locking_mode=EXCLUSIVE"); !done) return done;
  const auto owner = number("PRAGMA application_id");
  if (!owner) return std::unexpected(owner.error());
  const auto pages = number("SELECT count(*) FROM sqlite_schema");
  if (!pages) return std::unexpected(pages.error());
  if (*owner != application && (*owner != 0 || *pages != 0))
    return fail(errc::config, options_.path + " belongs to another program; set store.url to another file");
  // SQLite answers with the mode that holds from then on.
  {
    statement s(db_, "PRAGMA journal_mode=WAL");
    if (s.step() != SQLITE_ROW) return failed();
    if (s.text(0) != "wal")
      return fail(errc::io, "the journal " + options_.path + " cannot keep a write-ahead log here");
  }
  // A log that once grew large (a long transaction) is cut when it starts over.
  if (auto done = execute("PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=8388608; PRAGMA cache_size=-1024");
      !done)
    return done;
  full_ = false;
  return migrate();
}

result<void> sqlite_file::migrate() {
  const auto known = number("SELECT count(*) FROM sqlite_schema WHERE name = 'schema'");
  if (!known) return std::unexpected(known.error());
  std::int64_t version = 0;
  if (*known > 0) {
    const auto read = number("SELECT max(version) FROM schema");
    if (!read) return std::unexpected(read.error());
    version = *read;
  }
  if (version > schema_version)
    return fail(errc::config, "the journal " + options_.path + " is of version " + std::to_string(version) +
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
  if (!done) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

result<sqlite3_stmt*> sqlite_file::prepared(sqlite3_stmt*& kept, const char* sql) {
  if (!kept && sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept, nullptr) != SQLITE_OK)
    return failed();
  return kept;
}

result<void> sqlite_file::append(std::span<run_batch* const> batches, bool synced) {
  if (!db_) return fail(errc::io, "the journal " + options_.path + " is not open");
  if (synced != full_) {  // cannot be changed inside a transaction
    if (auto done = execute(synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"); !done) return done;
    full_ = synced;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> before;
  before.reserve(batches.size());
  for (const auto* b : batches) before.emplace_back(b->place->id, b->place->next_seq);
  auto done = append_all(batches);
  if (done) return done;
  if (!sqlite3_get_autocommit(db_)) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  // Backwards, since a run may be there more than once.
  for (std::size_t i = batches.size(); i-- > 0;)
    std::tie(batches[i]->place->id, batches[i]->place->next_seq) = before[i];
  return done;
}

result<void> sqlite_file::append_all(std::span<run_batch* const> batches) {
  if (auto done = execute("BEGIN IMMEDIATE"); !done) return done;
  for (auto* b : batches)
    if (auto done = append_one(*b); !done) return done;
  return execute("COMMIT");
}

result<void> sqlite_file::append_one(run_batch& batch) {
  auto& place = *batch.place;
  if (place.id == 0)
    if (auto done = begin(batch); !done) return done;
  auto insert = prepared(insert_record_, "INSERT INTO records(run, seq, at_ms, body) VALUES(?, ?, ?, ?)");
  if (!insert) return std::unexpected(insert.error());
  for (std::size_t i = 0; i < batch.records.size(); ++i) {
    const auto& text = batch.texts[i];
    sqlite3_bind_int64(*insert, 1, place.id);
    sqlite3_bind_int64(*insert, 2, place.next_seq);
    sqlite3_bind_int64(*insert, 3, batch.at_ms);
    const int bound = sqlite3_bind_text64(*insert, 4, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    const int stepped = bound == SQLITE_OK ? sqlite3_step(*insert) : bound;
    // The reason is read first: a reset gives it again, but clearing the bindings does not.
    auto outcome = stepped == SQLITE_DONE ? result<void>() : result<void>(failed());
    sqlite3_reset(*insert);
    sqlite3_clear_bindings(*insert);
    if (!outcome) return outcome;
    ++place.next_seq;
    if (const auto* end = std::get_if<record::run_ended>(&batch.records[i])) {
      statement s(db_, "UPDATE runs SET ended_ms=?, reason=? WHERE id=?");
      if (s.bind(1, batch.at_ms).bind(2, to_string(end->reason)).bind(3, place.id).step() != SQLITE_DONE)
        return failed();
    }
  }
  return {};
}

result<void> sqlite_file::begin(run_batch& batch) {
  const auto* first = batch.records.empty() ? nullptr : std::get_if<record::run_started>(&batch.records.front());
  statement s(db_, "INSERT INTO runs(run, session, principal, model, started_ms) VALUES(?, ?, ?, ?, ?)");
  s.bind(1, std::string_view(batch.place->run));
  s.bind(2, first ? std::string_view(first->session) : std::string_view());
  s.bind(3, first ? std::string_view(first->principal) : std::string_view());
  s.bind(4, first ? std::string_view(first->model) : std::string_view());
  s.bind(5, batch.at_ms);
  if (s.step() != SQLITE_DONE) return failed();
  batch.place->id = sqlite3_last_insert_rowid(db_);
  return {};
}

result<void> sqlite_file::mark_damaged(std::int64_t id, std::int64_t at_ms) {
  statement s(db_, "UPDATE runs SET ended_ms=?, reason='damaged' WHERE id=?");
  if (s.bind(1, at_ms).bind(2, id).step() != SQLITE_DONE) return failed();
  return {};
}

result<std::vector<run_row>> sqlite_file::runs(bool unfinished) {
  constexpr const char* all =
      "SELECT id, run, session, principal, model, started_ms, ended_ms, reason FROM runs ORDER BY id";
  constexpr const char* open_only =
      "SELECT id, run, session, principal, model, started_ms, ended_ms, reason FROM runs WHERE ended_ms IS NULL "
      "ORDER BY id";
  statement s(db_, unfinished ? open_only : all);
  std::vector<run_row> rows;
  int stepped = s.step();
  for (; stepped == SQLITE_ROW; stepped = s.step())
    rows.push_back({s.integer(0), std::string(s.text(1)), std::string(s.text(2)), std::string(s.text(3)),
                    std::string(s.text(4)), s.integer(5), s.integer(6), std::string(s.text(7))});
  if (stepped != SQLITE_DONE) return failed();
  return rows;
}

result<std::vector<run_record>> sqlite_file::records(std::int64_t id) {
  statement s(db_, "SELECT seq, body FROM records WHERE run=? ORDER BY seq");
  s.bind(1, id);
  std::vector<run_record> all;
  int stepped = s.step();
  for (; stepped == SQLITE_ROW; stepped = s.step()) {
    if (s.integer(0) != static_cast<std::int64_t>(all.size()))
      return fail(errc::parse, "record " + std::to_string(all.size()) + " of the run is missing");
    auto r = record_from(s.text(1));
    if (!r) return fail(errc::parse, "record " + std::to_string(all.size()) + ": " + r.error().message);
    all.push_back(std::move(*r));
  }
  if (stepped != SQLITE_DONE) return failed();
  return all;
}

}  // namespace mcpbx::daemon
