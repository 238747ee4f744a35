// Runs in sessions, and a journal that is asked about them one question after another.
#pragma once
#include "test/daemon/store/store_fixture.hpp"
#include "test/support/manual_time.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::test {

using history = daemon::store::journal::history;

/// Run `n` of a session: run_of(n) with a user message of its own.
inline std::vector<stored::run_record> in_session(const std::string& session, int n, std::size_t inherited = 0) {
  auto records = run_of(n);
  auto& first = std::get<stored::record::run_started>(records.front());
  first.session = session;
  first.messages = {providers::system_message("be number " + std::to_string(n)),
                    providers::user_message("question " + std::to_string(n))};
  first.inherited_count = inherited;
  return records;
}

/// The messages as text: their roles and what they say.
inline std::vector<std::string> told(const history& messages) {
  std::vector<std::string> all;
  for (const auto& m : messages) all.push_back(std::string(providers::to_string(m->role)) + " " + m->text());
  return all;
}

/// A journal of which the clock is turned, and its answers in a row.
struct sessions_store {
  explicit sessions_store(const std::string& path, daemon::store::lane_journal::options o = rules())
      : sessions_store(file_at(path), std::move(o)) {}
  explicit sessions_store(std::unique_ptr<daemon::store::run_store> file,
                          daemon::store::lane_journal::options o = rules())
      : journal(context.get_executor(), time, std::move(file), std::move(o)) {}
  result<void> write(const std::string& run, std::vector<stored::run_record> records) {
    auto open = journal.open_run(run);
    result<void> outcome;
    go(context, [&]() -> asio::awaitable<void> { outcome = co_await write_run(*open, records); });
    turn();
    return outcome;
  }
  template <class T, class Ask>
  result<T> ask(Ask start) {
    result<T> got = fail(errc::internal, "no answer");
    start([&](result<T> answer) { got = std::move(answer); });
    turn();
    return got;
  }
  result<history> load(const std::string& id) {
    return ask<history>([&](auto then) { journal.load_history(id, then); });
  }
  result<std::vector<stored::session_row>> list(stored::session_query q = {}) {
    return ask<std::vector<stored::session_row>>([&](auto then) { journal.list_sessions(q, then); });
  }
  result<stored::session_contents> read(const std::string& id) {
    return ask<stored::session_contents>([&](auto then) { journal.read_session(id, then); });
  }
  result<void> erase(const std::string& id) {
    return ask<void>([&](auto then) { journal.erase_session(id, then); });
  }
  result<daemon::store::journal::usage_page> count(stored::look_back where = {}) {
    return ask<daemon::store::journal::usage_page>([&](auto then) { journal.count_usage(where, then); });
  }
  result<daemon::store::journal::found_page> find(const std::string& words, std::size_t most = 20,
                                                  stored::look_back where = {}) {
    return ask<daemon::store::journal::found_page>([&](auto then) { journal.find_words(where, words, most, then); });
  }
  std::vector<std::string> ids() {
    std::vector<std::string> all;
    for (const auto& row : list().value()) all.push_back(row.id);
    return all;
  }
  void turn() {
    context.restart();
    context.run();
  }
  asio::io_context context{1};
  mcpbx::test::manual_time time;
  daemon::store::lane_journal journal;
};

}  // namespace mcpbx::daemon::test
