// The journal in a PostgreSQL database, which several daemons may share; each run belongs to one of them. All functions
// block.
#pragma once
#include "daemon/store/postgres/postgres_connection.hpp"
#include "daemon/store/run_store.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::postgres {

class postgres_store final : public store::run_store {
 public:
  struct options {
    /// Returns the URL (postgresql://…). Called on the store's thread at each connect; may block.
    std::function<result<std::string>()> url;
    /// Returns the identity of this daemon, unique and the same at each start, by which it finds its runs again. Called
    /// as `url` is.
    std::function<result<std::string>()> owner;
    std::string label;             ///< name for people, shown by other daemons: "mcpbxd 4711 on host"
    std::string schema = "mcpbx";  ///< schema of all tables; lower-case letters, digits and _
    milliseconds lock_limit{5'000};
    milliseconds statement_limit{15'000};
    /// Time without a connection, while the server runs, after which other daemons take a daemon's runs over.
    milliseconds abandoned_after{60'000};
    std::function<time_point()> now = std::chrono::steady_clock::now;  ///< clock for the pauses after failed connects
    postgres_connection::options connection{};                         ///< its URL is ignored
  };
  /// Version of the schema. A newer one is refused, an older one is migrated.
  static constexpr int schema_version = 2;

  explicit postgres_store(options o) : options_(std::move(o)) {}

  /// Returns the place from the URL as last read, without user and password.
  std::string name() const override { return "the journal " + place_; }
  /// Returns true: the answer is known only once the store is open.
  bool exists() override { return true; }
  /// Connects and registers this daemon; reconnects if the connection has ended. After a failed connect it fails at
  /// once with the same error for 100 ms, later for up to 5 s. errc::config: no libpq, a wrong URL, an unusable
  /// database.
  result<void> open() override;
  void close() override;
  /// Returns the time of the server's start.
  std::string boot() const override { return boot_; }
  bool is_shared() const override { return true; }
  result<void> touch() override;

  /// Appends all or nothing. If the connection is lost during COMMIT, the append fails with an unknown outcome
  /// (run_place::tried_id). After the next open() the outcome is certain, and repeating the append of a begun run
  /// succeeds without writing twice.
  result<void> append(std::span<store::run_batch* const> batches, bool synced) override;
  result<void> mark_damaged(std::int64_t id, std::int64_t at_ms) override;

  /// Returns all runs in order of their start.
  result<std::vector<stored::run_row>> runs();
  result<std::vector<stored::run_row>> unfinished_runs() override;
  result<std::vector<stored::run_row>> abandoned_runs(std::int64_t now_ms) override;
  result<std::optional<std::string>> owner_of(std::string_view run) override;
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
  using row_taker = std::function<void(const postgres_row&)>;
  result<void> connect();
  result<void> prepare_session();
  result<void> migrate();
  result<std::int64_t> version();
  result<void> take_place();
  result<std::vector<stored::run_row>> take_from(std::int64_t owner, std::int64_t now_ms);
  std::unexpected<error> no_permission(const postgres_connection::failure& why);

  result<void> append_all(std::span<store::run_batch* const> batches, bool synced);
  result<void> begin(store::run_batch& batch);
  result<bool> is_there(store::run_batch& batch);
  result<void> insert(std::span<store::run_batch* const> batches);
  result<void> note_boot(const store::run_batch& batch);
  std::unexpected<error> lost_to_another() const;
  result<void> end(const store::run_batch& batch, const stored::record::run_ended& last);
  result<void> commit();
  void roll_back();

  result<std::string> execute(const std::string& sql);
  result<void> each(const char* sql, const postgres_values& values, const postgres_connection::row_sink& sink);
  result<bool> first(const char* sql, const postgres_values& values, const row_taker& take = {});
  result<std::vector<stored::run_row>> run_rows(const char* sql, const postgres_values& values);
  result<std::vector<stored::session_row>> session_rows(const char* sql, const postgres_values& values);
  result<void> record_texts(const char* sql, const postgres_values& values, const store::record_sink& sink);
  std::unexpected<error> failed(const postgres_connection::failure& why);
  std::unexpected<error> not_open() const {
    return fail(errc::io, name() + " is not connected; the next run connects again");
  }
  std::int64_t lock_class() const;

  options options_;
  std::string place_ = "in PostgreSQL";
  std::unique_ptr<postgres_connection> connection_;
  std::string boot_;
  std::string synced_ = "on";               // synchronous_commit for synced appends
  std::int64_t number_ = 0;                 // number of this daemon in the table of daemons
  std::int64_t opening_ = 0;                // number of the connection: see run_place::opening
  std::vector<std::int64_t> old_backends_;  // server processes of earlier connections, which may still run
  int failures_ = 0;                        // failed connects in a row
  time_point next_try_{};                   // earliest time of the next connect
  error last_failure_{};                    // error of the last connect
};

}  // namespace mcpbx::daemon::postgres
