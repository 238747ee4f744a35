// A journal in a folder of its own, runs to write into it, and other processes that do so too.
#pragma once
#include "daemon/loop/recovery.hpp"
#include "daemon/store/lane_journal.hpp"
#include "daemon/store/record_format.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "mcp/async/system_time.hpp"
#include "test/daemon/loop/core_script.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
  std::string file() const { return path + "/journal.db"; }
  std::string path;
};

/// A whole recorded run with `n % 4` rounds of two calls; everything in it is told by `n`.
inline std::vector<run_record> run_of(int n) {
  const auto name = std::to_string(n);
  script s;
  for (int k = 0; k < n % 4; ++k) {
    const auto id = name + "_" + std::to_string(k);
    s.model(reply("thinking " + id, {call("a" + id), call("b" + id)}));
    s.answer(answered("b" + id, std::string(static_cast<std::size_t>(n % 7) * 300, 'x'))).answer(failed("a" + id));
  }
  s.model(reply("done " + name));
  std::get<record::run_started>(s.records.front()).run = name;
  return std::move(s.records);
}

inline std::vector<std::string> texts_of(const std::vector<run_record>& records) {
  std::vector<std::string> all;
  for (const auto& r : records) all.push_back(to_text(r));
  return all;
}

inline run_batch batch_of(std::shared_ptr<run_place> place, std::vector<run_record> records) {
  auto texts = texts_of(records);
  return {std::move(place), std::move(records), std::move(texts), 1};
}

/// One append to a file, without a journal.
inline result<void> put(sqlite_file& file, run_batch batch, bool synced = false) {
  run_batch* const one = &batch;
  return file.append({&one, 1}, synced);
}

/// Starts a coroutine; what leaves it ends the test.
inline void go(asio::io_context& context, std::function<asio::awaitable<void>()> body) {
  asio::co_spawn(context, std::move(body), [](std::exception_ptr e) {
    if (e) std::rethrow_exception(e);
  });
}

/// Appends record after record, and says how many were acknowledged each time.
inline asio::awaitable<result<void>> write_run(run_journal& to, std::vector<run_record> records,
                                               std::function<void(std::size_t)> acknowledged = {}) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::vector<run_record> one;
    one.push_back(records[i]);
    auto done = co_await to.append(std::move(one), i + 1 == records.size());
    if (!done) co_return done;
    if (acknowledged) acknowledged(i + 1);
  }
  co_return result<void>{};
}

using recovery_rule = decltype(record_rules::recovery);

inline std::unique_ptr<store_file> file_at(const std::string& path) {
  return std::make_unique<sqlite_file>(sqlite_file::options{.path = path, .busy_ms = 20});
}
inline lane_journal::options rules(recovery_rule rule = recovery_of) {
  lane_journal::options o;
  o.rules.recovery = std::move(rule);
  o.rules.fold = folded;
  return o;
}

struct store {
  explicit store(const std::string& path, recovery_rule rule = recovery_of) : store(path, rules(std::move(rule))) {}
  store(const std::string& path, lane_journal::options o)
      : time(context.get_executor()), journal(context.get_executor(), time, file_at(path), std::move(o)) {}
  /// Writes all of the run.
  result<void> write(const std::string& run, std::vector<run_record> records) {
    auto open = journal.open_run(run);
    result<void> outcome;
    context.restart();
    go(context, [&]() -> asio::awaitable<void> { outcome = co_await write_run(*open, records); });
    context.run();
    return outcome;
  }
  asio::io_context context{1};
  system_time time;
  lane_journal journal;
};

/// What a file holds: each run's row and records.
inline std::vector<std::pair<run_row, std::vector<run_record>>> contents(const std::string& path) {
  sqlite_file file({.path = path});
  auto opened = file.open();
  REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
  auto rows = file.runs();
  REQUIRE(rows.has_value());
  std::vector<std::pair<run_row, std::vector<run_record>>> all;
  for (auto& row : *rows) {
    auto records = file.records(row.id);
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
