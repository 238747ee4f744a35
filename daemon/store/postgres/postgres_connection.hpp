// One blocking connection to PostgreSQL, with a limit on every wait.
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

namespace mcpbx::daemon::postgres {

/// Parts of store.url.
struct postgres_target {
  std::string place;     ///< for sentences: "postgresql://host:5432/database"
  std::string password;  ///< the password in the URL, or ""
};
/// Parses a URL. errc::config: it is no PostgreSQL URL. The error quotes nothing of it, since a password may be
/// anywhere.
result<postgres_target> postgres_target_of(const libpq& pq, const std::string& url);

/// Values of a statement, $1 and so on. Texts are sent as UTF-8; a NUL, which PostgreSQL cannot store, becomes U+FFFD.
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

/// One row, valid during the call.
class postgres_row {
 public:
  postgres_row(const libpq& pq, const PGresult* rows, int row) : pq_(pq), rows_(rows), row_(row) {}
  /// Returns a number; 0 for NULL.
  std::int64_t integer(int column) const;
  /// Returns a text; "" for NULL.
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
    std::string url;                    ///< a PostgreSQL URL, whose parameters win over these
    int connect_s = 5;                  ///< time limit for connecting to a host, in seconds
    milliseconds answer_limit{20'000};  ///< longest silence before an answer; then the connection counts as broken
  };
  /// An error of the server or of the connection.
  struct failure {
    std::string state;       ///< SQLSTATE; "": the connection failed
    std::string constraint;  ///< the constraint that was violated, or ""
    std::string what;        ///< one line
  };
  template <class T>
  using outcome = std::expected<T, failure>;
  /// Receives rows. An error ends the reading and is returned.
  using row_sink = std::function<result<void>(const postgres_row&)>;

  /// Connects. `pq` must outlive the connection.
  static outcome<std::unique_ptr<postgres_connection>> open(const libpq& pq, const options& o);
  ~postgres_connection();
  postgres_connection(const postgres_connection&) = delete;
  postgres_connection& operator=(const postgres_connection&) = delete;

  /// Returns false once the connection is broken. The server rolls back the open transaction; but after a failure
  /// during COMMIT the outcome is unknown.
  bool alive() const;
  /// Returns true if the server has neither closed an idle connection nor sent anything on it. Costs one system call.
  bool quiet() const;
  int backend() const { return pq_.backend_pid(handle_.get()); }
  /// Returns a parameter that the server reports ("server_encoding"), or "".
  std::string parameter(const char* name) const;

  /// Executes one or more statements without values and returns the tag of the last one ("COMMIT").
  outcome<std::string> execute(const std::string& sql);
  /// Executes one statement. `sql` is a string literal, prepared once and remembered by its address. Rows go to `sink`
  /// as they come; an error of `sink` goes to `refused`.
  outcome<void> run(const char* sql, const postgres_values& values, const row_sink& sink, result<void>& refused);
  /// Does the same for a statement whose first row matters only. Returns true if there is one, after giving it to
  /// `take`.
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
  /// Returns the next answer; empty: there are no more.
  outcome<answer> next();
  outcome<void> drain();
  failure broken(std::string what = {});
  failure refusal(const PGresult* r) const;

  const libpq& pq_;
  std::unique_ptr<PGconn, closer> handle_;
  milliseconds limit_;
  bool silent_ = false;  // the server gave no answer in time
  std::unordered_map<const char*, std::string> statements_;
  std::uint64_t made_ = 0;  // counter for their names
};

}  // namespace mcpbx::daemon::postgres
