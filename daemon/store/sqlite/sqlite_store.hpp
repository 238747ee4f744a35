// The journal in an SQLite file. All functions block.
#pragma once
#include "daemon/store/run_store.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace mcpbx::daemon::sqlite {

class sqlite_store final : public store::run_store {
 public:
  struct options {
    std::string path;          ///< path of the file, created with mode 0600
    bool make_folder = false;  ///< create its folder with mode 0700
    int busy_ms = 2'000;       ///< longest wait for another process's lock, in milliseconds
    std::string boot = {};     ///< id of the machine's start; "": unknown
  };
  /// Version of the schema. A newer file is refused, an older one is migrated.
  static constexpr int schema_version = 4;

  explicit sqlite_store(options o) : options_(std::move(o)) {}
  ~sqlite_store() override { sqlite_store::close(); }
  sqlite_store(const sqlite_store&) = delete;
  sqlite_store& operator=(const sqlite_store&) = delete;

  std::string name() const override { return "the journal " + options_.path; }
  std::string boot() const override { return options_.boot; }
  bool exists() override;
  /// Opens the file exclusively: no other process can open it meanwhile.
  result<void> open() override;
  bool is_open() const noexcept { return db_ != nullptr; }
  void close() override;
  result<void> still_there() override;

  result<void> append(std::span<store::run_batch* const> batches, bool synced) override;
  result<void> mark_damaged(std::int64_t id, std::int64_t at_ms) override;

  /// Returns all runs in order of their start.
  result<std::vector<stored::run_row>> runs();
  result<std::vector<stored::run_row>> unfinished_runs() override;
  result<std::vector<stored::run_row>> runs_of(std::string_view session) override;
  result<std::optional<stored::run_row>> find_run(std::string_view run) override;
  result<std::vector<stored::run_row>> runs_before(std::int64_t before, std::size_t most) override;
  result<void> read_run(std::int64_t id, const store::record_sink& sink) override;
  result<void> read_session(std::string_view session, const store::record_sink& sink) override;

  result<std::vector<stored::session_row>> sessions(const stored::session_query& q) override;
  result<std::optional<stored::session_row>> session(std::string_view id) override;
  result<void> erase(std::span<const std::string> sessions) override;
  result<std::vector<stored::session_row>> unused_sessions(std::int64_t before_ms, std::size_t most) override;
  result<std::int64_t> kept_bytes() override;

 private:
  class statement;
  result<void> prepare_file();
  result<void> migrate();
  result<void> execute(const char* sql);
  void roll_back();
  result<void> set_synced(bool synced);
  result<void> append_all(std::span<store::run_batch* const> batches);
  result<void> append_one(store::run_batch& batch);
  result<void> append_plain(store::run_batch& batch);
  result<void> begin(store::run_batch& batch);
  result<void> check_place(store::run_place& place);
  result<void> begin_in_session(const stored::record::run_started& first, const store::run_batch& batch);
  std::string_view boot_of(const store::run_batch& batch) const {
    return batch.calls_synced ? std::string_view() : std::string_view(options_.boot);
  }
  result<void> end(const store::run_batch& batch, const stored::record::run_ended& last);
  result<void> run(const char* sql);  // `sql` is a string literal, prepared once
  result<void> run(statement& s);
  result<std::int64_t> number(const char* sql);
  result<std::vector<stored::run_row>> run_rows(statement& s);
  result<std::vector<stored::session_row>> session_rows(statement& s);
  result<void> record_texts(statement& s, const store::record_sink& sink);
  std::unexpected<error> failed();
  std::unexpected<error> failed(int code, int system_error);
  /// Prepares a statement, remembered by the address of the string literal `sql`. Null: failure, see failed().
  sqlite3_stmt* prepared(const char* sql);

  options options_;
  sqlite3* db_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
  bool full_ = false;         // PRAGMA synchronous is FULL now
  std::int64_t opening_ = 0;  // number of the opening: see run_place::opening
};

}  // namespace mcpbx::daemon::sqlite
