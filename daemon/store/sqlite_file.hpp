// The journal's SQLite file, blocking: opened, brought up to date, written in transactions, read. Used on one thread at
// a time; sqlite_journal does so on its lane.
#pragma once
#include "daemon/store/record.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace mcpbx::daemon {

/// Where the next record of a run goes. `id` is 0 until its first record is in the file.
struct run_place {
  std::string run;
  std::int64_t id = 0;
  std::int64_t next_seq = 0;
};

/// Records of one run that are appended together.
struct run_batch {
  std::shared_ptr<run_place> place;
  std::vector<run_record> records;
  std::vector<std::string> texts;  ///< to_text of each record
  std::int64_t at_ms = 0;          ///< time stamp, ms since 1970
};

/// A run as the table of runs shows it.
struct run_row {
  std::int64_t id = 0;
  std::string run, session, principal, model;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;  ///< 0: not ended
  std::string reason;         ///< stop reason, "damaged" when its records cannot be read, "" while it goes on
};

class sqlite_file {
 public:
  struct options {
    std::string path;          ///< created with mode 0600 when it is not there
    bool make_folder = false;  ///< whether its folder is created too, with mode 0700
    int busy_ms = 2'000;       ///< how long another process's lock is waited for
  };
  /// The schema's version; a file of a newer one is refused, one of an older is migrated.
  static constexpr int schema_version = 1;

  explicit sqlite_file(options o) : options_(std::move(o)) {}
  ~sqlite_file() { close(); }
  sqlite_file(const sqlite_file&) = delete;
  sqlite_file& operator=(const sqlite_file&) = delete;

  /// Opens the file, alone: while it is open no other process can. Nothing happens when it is open. Errors name the
  /// path and the mend: errc::io, or errc::config for a file of a newer version or of somebody else.
  result<void> open();
  bool is_open() const noexcept { return db_ != nullptr; }
  void close();

  /// Appends the batches in one transaction, all or nothing; `synced` waits until the disk has it. A record whose
  /// (run, seq) exists is errc::io: somebody else went on with the run.
  result<void> append(std::span<run_batch* const> batches, bool synced);
  /// Ends a run in the table only, because its records cannot be read.
  result<void> mark_damaged(std::int64_t id, std::int64_t at_ms);

  /// The runs in order of their start; `unfinished`: those without an end only.
  result<std::vector<run_row>> runs(bool unfinished = false);
  /// A run's records in order. errc::parse when one cannot be read.
  result<std::vector<run_record>> records(std::int64_t id);

 private:
  class statement;
  result<void> prepare_file();
  result<void> migrate();
  result<void> execute(const char* sql);
  result<void> append_all(std::span<run_batch* const> batches);
  result<void> append_one(run_batch& batch);
  result<void> begin(run_batch& batch);
  result<std::int64_t> number(const char* sql);
  std::unexpected<error> failed();
  std::unexpected<error> failed(int code, int system_error);
  result<sqlite3_stmt*> prepared(sqlite3_stmt*& kept, const char* sql);

  options options_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_record_ = nullptr;
  bool full_ = false;  // PRAGMA synchronous as it stands
};

}  // namespace mcpbx::daemon
