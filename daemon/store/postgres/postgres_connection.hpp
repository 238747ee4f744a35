// One connection to PostgreSQL, blocking, with a limit on every wait: statements with their values, rows as they come.
#pragma once
#include "daemon/store/postgres/libpq.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::daemon {

/// What store.url says, without its secrets.
struct postgres_target {
  std::string place;     ///< for sentences: "postgresql://host:5432/database"
  std::string password;  ///< as the URL has it, or ""
};
/// errc::config: it is no PostgreSQL URL. The error holds nothing of it, since it may have a password in any place.
result<postgres_target> postgres_target_of(const libpq& pq, const std::string& url);

/// The values of a statement, $1 and so on. Texts go as UTF-8; a NUL in them, which PostgreSQL cannot hold, as U+FFFD.
class postgres_values {
 public:
  postgres_values& add(std::int64_t value);
  postgres_values& add(std::string_view text);
  postgres_values& add(std::span<const std::int64_t> values);
  postgres_values& add(std::span<const std::string_view> texts);

 private:
  friend class postgres_connection;
  postgres_values& keep(Oid type, std::string bytes);
  std::vector<Oid> types_;
  std::vector<std::string> bytes_;
};

/// One row, for the call only.
class postgres_row {
 public:
  postgres_row(const libpq& pq, const PGresult* rows, int row) : pq_(pq), rows_(rows), row_(row) {}
  /// 0 for NULL.
  std::int64_t integer(int column) const;
  /// "" for NULL.
  std::string_view text(int column) const;
  std::string owned(int column) const { return std::string(text(column)); }

 private:
  const libpq& pq_;
  const PGresult* rows_;
  int row_;
};

class postgres_connection {
 public:
  struct options {
    std::string url;                    ///< a PostgreSQL URL; what it says goes before what stands here
    int connect_s = 5;                  ///< limit on connecting, per host
    milliseconds answer_limit{20'000};  ///< of silence, while an answer is waited for; then the connection is broken
  };
  /// What the server or the connection said.
  struct failure {
    std::string state;       ///< SQLSTATE; "" when the connection failed
    std::string constraint;  ///< the constraint that was violated, or ""
    std::string what;        ///< one line
  };
  template <class T>
  using outcome = std::expected<T, failure>;
  /// An error ends the reading and comes out of it.
  using row_sink = std::function<result<void>(const postgres_row&)>;

  /// `pq` must outlive it.
  static outcome<std::unique_ptr<postgres_connection>> open(const libpq& pq, const options& o);
  ~postgres_connection();
  postgres_connection(const postgres_connection&) = delete;
  postgres_connection& operator=(const postgres_connection&) = delete;

  /// False once it is broken: whatever was going on in it has been, or will be, rolled back by the server, but for a
  /// COMMIT, of which it is not known.
  bool alive() const;
  /// For a connection on which nothing is going on: whether the server has neither ended it nor said anything since.
  /// Costs one system call.
  bool quiet() const;
  int backend() const { return pq_.backend_pid(handle_.get()); }
  /// A parameter that the server reports ("server_encoding"), or "".
  std::string parameter(const char* name) const;

  /// One or more statements in one go, without values; gives the tag of the last one ("COMMIT").
  outcome<std::string> execute(const std::string& sql);
  /// One statement; `sql` is a literal, under whose address it is prepared once. Rows go to `sink` as they come; its
  /// error is `refused`.
  outcome<void> run(const char* sql, const postgres_values& values, const row_sink& sink, result<void>& refused);
  /// The same for a statement of which only the first row matters: whether there is one, and `take` is given it.
  outcome<bool> first(const char* sql, const postgres_values& values,
                      const std::function<void(const postgres_row&)>& take = {});

 private:
  struct closer {
    const libpq* pq;
    void operator()(PGconn* c) const { pq->finish(c); }
  };
  struct clearer {
    const libpq* pq;
    void operator()(PGresult* r) const { pq->clear(r); }
  };
  using answer = std::unique_ptr<PGresult, clearer>;

  postgres_connection(const libpq& pq, PGconn* handle, milliseconds limit)
      : pq_(pq), handle_(handle, closer{&pq}), limit_(limit) {}
  outcome<const char*> prepared(const char* sql, const postgres_values& values);
  /// The next answer to what was sent; empty: there are no more.
  outcome<answer> next();
  outcome<void> drain();
  failure broken(std::string what = {});
  failure refusal(const PGresult* r) const;

  const libpq& pq_;
  std::unique_ptr<PGconn, closer> handle_;
  milliseconds limit_;
  bool silent_ = false;  // gave no answer in time
  std::unordered_map<const char*, std::string> statements_;
  std::uint64_t made_ = 0;  // names for them
};

}  // namespace mcpbx::daemon
