// The journal in a PostgreSQL database, blocking: connected, brought up to date, written in transactions, read. Several
// daemons share it; each of its runs belongs to one of them.
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

namespace mcpbx::daemon {

class postgres_store final : public run_store {
 public:
  struct options {
    /// Gives the URL (postgresql://…) each time it is connected to; called where it is used, and may block.
    std::function<result<std::string>()> url;
    /// Gives which daemon this is, as `url` does: the same each time it starts, and nobody else's. Its runs are found
    /// again by it.
    std::function<result<std::string>()> owner;
    std::string label;             ///< how other daemons name it to people: "mcpbxd 4711 on host"
    std::string schema = "mcpbx";  ///< holds everything; lower-case letters, digits and _
    milliseconds lock_limit{5'000};
    milliseconds statement_limit{15'000};
    /// A daemon that is not connected, and was not for so long while the server was up, has its runs taken over.
    milliseconds abandoned_after{60'000};
    std::function<time_point()> now = std::chrono::steady_clock::now;  ///< for the pauses between failed connects
    postgres_connection::options connection{};                         ///< but for its URL
  };
  /// The schema's version; one that is newer is refused, an older one is migrated.
  static constexpr int schema_version = 2;

  explicit postgres_store(options o) : options_(std::move(o)) {}

  /// Without user and password; of the URL as it was last read.
  std::string name() const override { return "the journal " + place_; }
  /// Always: whether there is one is known once it is open.
  bool exists() override { return true; }
  /// Connects and takes this daemon's place; anew when the connection ended since it was used last. After a connect
  /// that failed the next ones fail at once with the same error, for 100 ms at first and 5 s in the end. errc::config:
  /// no libpq, a wrong URL, a database that cannot be used.
  result<void> open() override;
  void close() override;
  /// The time at which the server was started.
  std::string boot() const override { return boot_; }
  bool is_shared() const override { return true; }
  result<void> touch() override;

  /// All or nothing, unless the connection is lost while the server commits: then the append fails, whatever became of
  /// it (run_place::tried_id). Once the database is open again that has been decided, and the same append of a run that
  /// had begun is taken for done where it is.
  result<void> append(std::span<run_batch* const> batches, bool synced) override;
  result<void> mark_damaged(std::int64_t id, std::int64_t at_ms) override;

  /// All runs, in order of their start.
  result<std::vector<run_row>> runs();
  result<std::vector<run_row>> unfinished_runs() override;
  result<std::vector<run_row>> abandoned_runs(std::int64_t now_ms) override;
  result<std::optional<std::string>> owner_of(std::string_view run) override;
  result<std::vector<run_row>> runs_of(std::string_view session) override;
  result<std::optional<run_row>> find_run(std::string_view run) override;
  result<void> read_run(std::int64_t id, const record_sink& sink) override;
  result<void> read_session(std::string_view session, const record_sink& sink) override;

  result<std::vector<session_row>> sessions(const session_query& q) override;
  result<std::optional<session_row>> session(std::string_view id) override;
  result<void> erase(std::span<const std::string> sessions) override;
  result<std::vector<session_row>> unused_sessions(std::int64_t before_ms, std::size_t most) override;
  result<std::int64_t> kept_bytes() override;

 private:
  using row_taker = std::function<void(const postgres_row&)>;
  result<void> connect();
  result<void> prepare_session();
  result<void> migrate();
  result<std::int64_t> version();
  result<void> take_place();
  result<std::vector<run_row>> take_from(std::int64_t owner, std::int64_t now_ms);
  std::unexpected<error> no_permission(const postgres_connection::failure& why);

  result<void> append_all(std::span<run_batch* const> batches, bool synced);
  result<void> begin(run_batch& batch);
  result<bool> is_there(run_batch& batch);
  result<void> insert(std::span<run_batch* const> batches);
  result<void> note_boot(const run_batch& batch);
  std::unexpected<error> lost_to_another() const;
  result<void> end(const run_batch& batch, const record::run_ended& last);
  result<void> commit();
  void roll_back();

  result<std::string> execute(const std::string& sql);
  result<void> each(const char* sql, const postgres_values& values, const postgres_connection::row_sink& sink);
  result<bool> first(const char* sql, const postgres_values& values, const row_taker& take = {});
  result<std::vector<run_row>> run_rows(const char* sql, const postgres_values& values);
  result<std::vector<session_row>> session_rows(const char* sql, const postgres_values& values);
  result<void> record_texts(const char* sql, const postgres_values& values, const record_sink& sink);
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
  std::int64_t number_ = 0;                 // of this daemon in the table of daemons
  std::int64_t opening_ = 0;                // counts connections: see run_place::opening
  std::vector<std::int64_t> old_backends_;  // server processes of connections that are over, for us at least
  int failures_ = 0;                        // connects in a row
  time_point next_try_{};                   // not before
  error last_failure_{};                    // of the last connect
};

}  // namespace mcpbx::daemon
