// A journal of its own for each test, runs to write into it, and other processes that do so too.
//
// It is a SQLite file, or, under test/support/postgres.sh, a schema in a PostgreSQL database: the same tests run
// against both. Tests for one kind of store are marked.
#pragma once
#include "daemon/loop/core/recovery.hpp"
#include "daemon/store/lane_journal.hpp"
#include "daemon/store/postgres/postgres_store.hpp"
#include "daemon/store/records/record_format.hpp"
#include "daemon/store/sqlite/sqlite_store.hpp"
#include "mcp/async/system_time.hpp"
#include "test/daemon/loop/core/core_script.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::test {

namespace asio = boost::asio;

/// The database of this run of the tests; null: they are against SQLite.
inline const char* database() {
  static const char* const url = std::getenv("MCPBX_TEST_POSTGRES");
  return url;
}
inline bool on_postgres() {
  return database() != nullptr;
}
/// Decorators of tests for one kind of store.
inline doctest::skip sqlite_only() {
  return doctest::skip(on_postgres());
}
inline doctest::skip postgres_only() {
  return doctest::skip(!on_postgres());
}

struct folder {
  folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mcpbx-store-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  /// Returns the argument of file_at(): a path, or the name of a schema.
  std::string file() const {
    if (!on_postgres()) return path + "/journal.db";
    auto name = std::filesystem::path(path).filename().string();
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  }
  std::string path;
};

/// A whole recorded run with `n % 4` rounds of two calls; everything in it is told by `n`.
inline std::vector<stored::run_record> run_of(int n) {
  const auto name = std::to_string(n);
  script s;
  for (int k = 0; k < n % 4; ++k) {
    const auto id = name + "_" + std::to_string(k);
    s.model(reply("thinking " + id, {call("a" + id), call("b" + id)}));
    s.answer(answered("b" + id, std::string(static_cast<std::size_t>(n % 7) * 300, 'x'))).answer(failed("a" + id));
  }
  s.model(reply("done " + name));
  std::get<stored::record::run_started>(s.records.front()).run = name;
  return std::move(s.records);
}

inline std::vector<std::string> texts_of(const std::vector<stored::run_record>& records) {
  std::vector<std::string> all;
  for (const auto& r : records) all.push_back(stored::to_text(r));
  return all;
}

inline daemon::store::run_batch batch_of(std::shared_ptr<daemon::store::run_place> place,
                                         std::vector<stored::run_record> records) {
  auto texts = texts_of(records);
  return {std::move(place), std::move(records), std::move(texts), 1};
}

/// One append to a file, without a journal.
inline result<void> put(daemon::store::run_store& file, daemon::store::run_batch batch, bool synced = false) {
  daemon::store::run_batch* const one = &batch;
  return file.append({&one, 1}, synced);
}

/// Starts a coroutine; what leaves it ends the test.
inline void go(asio::io_context& context, std::function<asio::awaitable<void>()> body) {
  asio::co_spawn(context, std::move(body), [](std::exception_ptr e) {
    if (e) std::rethrow_exception(e);
  });
}

/// Appends one record after another, and writes each time how many were acknowledged.
inline asio::awaitable<result<void>> write_run(daemon::store::run_journal& to, std::vector<stored::run_record> records,
                                               std::function<void(std::size_t)> acknowledged = {}) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::vector<stored::run_record> one;
    one.push_back(records[i]);
    auto done = co_await to.append(std::move(one), i + 1 == records.size());
    if (!done) co_return done;
    if (acknowledged) acknowledged(i + 1);
  }
  co_return result<void>{};
}

using recovery_rule = decltype(daemon::store::record_rules::recovery);

inline postgres::postgres_store::options in_schema(const std::string& schema, const std::string& owner = "us") {
  postgres::postgres_store::options o;
  o.url = [] { return result<std::string>(database()); };
  o.owner = [owner] { return result<std::string>(owner); };
  o.label = "the daemon " + owner;
  o.schema = schema;
  return o;
}
inline std::unique_ptr<daemon::store::run_store> file_at(const std::string& path) {
  if (on_postgres()) return std::make_unique<postgres::postgres_store>(in_schema(path));
  return std::make_unique<sqlite::sqlite_store>(sqlite::sqlite_store::options{.path = path, .busy_ms = 20});
}
inline std::unique_ptr<daemon::store::run_store> opened(const std::string& path) {
  auto file = file_at(path);
  const auto done = file->open();
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  return file;
}
inline std::vector<stored::run_row> runs_in(daemon::store::run_store& file) {
  if (auto* sqlite = dynamic_cast<sqlite::sqlite_store*>(&file)) return sqlite->runs().value();
  return dynamic_cast<postgres::postgres_store&>(file).runs().value();
}
/// Changes a journal behind its back.
inline void with_plain_sql(const std::string& path, const std::string& sql) {
  if (on_postgres()) {
    const auto& pq = *postgres::libpq::load().value();
    auto connection = postgres::postgres_connection::open(pq, {.url = database()});
    REQUIRE(connection.has_value());
    const auto done = (*connection)->execute("SET search_path TO " + path + ";" + sql);
    CHECK_MESSAGE(done.has_value(), (done ? "" : done.error().what));
    return;
  }
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  char* wrong = nullptr;
  const bool done = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &wrong) == SQLITE_OK;
  CHECK_MESSAGE(done, (wrong ? wrong : ""));
  sqlite3_free(wrong);
  sqlite3_close(db);
}
inline daemon::store::lane_journal::options rules(recovery_rule rule = core::recovery_of) {
  daemon::store::lane_journal::options o;
  o.rules.recovery = std::move(rule);
  o.rules.fold = core::folded;
  return o;
}

struct store {
  explicit store(const std::string& path, recovery_rule rule = core::recovery_of)
      : store(path, rules(std::move(rule))) {}
  store(const std::string& path, daemon::store::lane_journal::options o) : store(file_at(path), std::move(o)) {}
  store(std::unique_ptr<daemon::store::run_store> file, daemon::store::lane_journal::options o)
      : time(context.get_executor()), journal(context.get_executor(), time, std::move(file), std::move(o)) {}
  /// Writes all of the run.
  result<void> write(const std::string& run, std::vector<stored::run_record> records) {
    auto open = journal.open_run(run);
    result<void> outcome;
    context.restart();
    go(context, [&]() -> asio::awaitable<void> { outcome = co_await write_run(*open, records); });
    context.run();
    return outcome;
  }
  asio::io_context context{1};
  async::system_time time;
  daemon::store::lane_journal journal;
};

/// Returns the content of a journal: each run's row and records.
inline std::vector<std::pair<stored::run_row, std::vector<stored::run_record>>> contents(const std::string& path) {
  const auto file = opened(path);
  std::vector<std::pair<stored::run_row, std::vector<stored::run_record>>> all;
  for (auto& row : runs_in(*file)) {
    auto records = file->records(row.id);
    REQUIRE_MESSAGE(records.has_value(), (records ? "" : records.error().message));
    all.emplace_back(std::move(row), std::move(*records));
  }
  return all;
}

/// A process that runs `body` and then ends; it must be started while this one has no other thread.
inline pid_t in_child(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid > 0) return pid;
  ::signal(SIGABRT, SIG_DFL);
  body();
  ::_exit(0);
}
inline int end_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

struct pipe_pair {
  pipe_pair() { REQUIRE(::pipe(ends) == 0); }
  ~pipe_pair() {
    close(0);
    close(1);
  }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  /// The next line, or "" at the end.
  std::string line() {
    for (;;) {
      if (const auto cut = kept.find('\n'); cut != kept.npos) {
        auto one = kept.substr(0, cut);
        kept.erase(0, cut + 1);
        return one;
      }
      char bytes[4096];
      const auto n = ::read(ends[0], bytes, sizeof bytes);
      if (n <= 0) return {};
      kept.append(bytes, static_cast<std::size_t>(n));
    }
  }
  void say(const std::string& text) {
    const auto all = text + "\n";
    if (::write(ends[1], all.data(), all.size()) < 0) ::_exit(3);
  }
  int ends[2] = {-1, -1};
  std::string kept;
};

/// While it lives no file can grow over `bytes`: what a disk without room looks like to one that may not be filled up.
struct no_room {
  explicit no_room(rlim_t bytes) {
    old_handler = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit now{bytes, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~no_room() {
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, old_handler);
  }
  rlimit old{};
  void (*old_handler)(int) = nullptr;
};

}  // namespace mcpbx::daemon::test
