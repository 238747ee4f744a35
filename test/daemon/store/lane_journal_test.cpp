// The journal on disk as the loop uses it: groups, failures, what is closed at the first append.
#include "daemon/store/lane_journal.hpp"

#include "test/daemon/store/store_fixture.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <future>
#include <memory>

using namespace mcpbx;
using namespace mcpbx::daemon;
using namespace mcpbx::daemon::test;

namespace {

// What a daemon leaves that was killed after `count` records of run `n`.
void leave(const std::string& path, int n, std::size_t count) {
  const auto file = opened(path);
  auto records = run_of(n);
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(count), records.end());
  REQUIRE(put(*file, batch_of(std::make_shared<run_place>(run_place{std::to_string(n)}), records)).has_value());
}

}  // namespace

TEST_CASE("lane journal: no file is made before the first record") {
  folder f;
  {
    store s(f.file());
    auto run = s.journal.open_run("r");
  }
  CHECK(std::filesystem::is_empty(f.path));
}

TEST_CASE("lane journal: a hundred runs at once are kept each whole and in order") {
  folder f;
  {
    store s(f.file());
    int done = 0;
    for (int n = 0; n < 100; ++n)
      go(s.context, [&s, &done, n]() -> asio::awaitable<void> {
        auto run = s.journal.open_run(std::to_string(n));
        const auto outcome = co_await write_run(*run, run_of(n));
        if (outcome) ++done;
      });
    s.context.run();
    CHECK(done == 100);
  }
  const auto all = contents(f.file());
  CHECK(all.size() == 100);
  for (const auto& [row, records] : all) {
    CHECK(texts_of(records) == texts_of(run_of(std::stoi(row.run))));
    CHECK((row.ended_ms > 0 && row.reason == "final"));
  }
}

TEST_CASE("lane journal: a name may be used again once its run has ended") {
  folder f;
  {
    store s(f.file());
    CHECK(s.write("4", run_of(4)).has_value());
    CHECK(s.write("4", run_of(4)).has_value());
  }
  CHECK(contents(f.file()).size() == 2);
}

TEST_CASE("G24: runs without an end are closed by the first append whatever record they end with") {
  const auto whole = run_of(2);
  for (std::size_t count = 1; count <= whole.size(); ++count) {
    CAPTURE(count);
    folder f;
    leave(f.file(), 2, count);
    {
      store s(f.file());
      CHECK(s.write("1", run_of(1)).has_value());
    }
    const auto all = contents(f.file());
    REQUIRE(all.size() == 2);
    const auto& closed = all[0].second;
    CHECK(fault_of(closed) == "");
    auto expected = fold(whole, count).recovery();
    expected.insert(expected.begin(), whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count));
    CHECK(texts_of(closed) == texts_of(expected));
    CHECK(all[0].first.ended_ms > 0);
    CHECK(fault_of(fold(closed, closed.size()).messages()) == "");
    CHECK(texts_of(all[1].second) == texts_of(run_of(1)));
  }
}

TEST_CASE("lane journal: a run whose records cannot be read stays as it is and stops nobody") {
  folder f;
  leave(f.file(), 2, 3);
  {
    const auto file = opened(f.file());
    auto odd = batch_of(std::make_shared<run_place>(run_place{"2", 1, 3}), {record::cancel{}});
    odd.texts[0] = R"({"v":1,"type":"dream"})";
    REQUIRE(put(*file, std::move(odd)).has_value());
  }
  {
    store s(f.file());
    CHECK(s.write("1", run_of(1)).has_value());
  }
  const auto file = opened(f.file());
  const auto rows = runs_in(*file);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].reason == "damaged");
  CHECK(file->records(rows[0].id).error().message == "record 3: a record has the unknown type \"dream\"");
}

TEST_CASE("G25: without room an append fails whole and the journal goes on by itself when there is some" *
          sqlite_only()) {
  folder f;
  {
    store s(f.file());
    auto run = s.journal.open_run("3");
    auto records = run_of(3);
    result<void> first, second;
    go(s.context, [&]() -> asio::awaitable<void> { first = co_await run->append({records[0], records[1]}, true); });
    s.context.run();
    REQUIRE(first.has_value());
    {
      no_room limit(256 << 10);
      auto big = reply(std::string(1 << 20, 'x'));
      s.context.restart();
      go(s.context, [&]() -> asio::awaitable<void> { second = co_await run->append({big}, false); });
      s.context.run();
    }
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == errc::io);
    CHECK(contains(second.error().message, f.file()));
    run.reset();  // its run ended in memory with store_error
    CHECK(s.write("1", run_of(1)).has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 2);
  CHECK(fault_of(all[0].second) == "");
  CHECK(all[0].first.reason == "interrupted");
  CHECK(all[0].second.size() == 4);
  CHECK(texts_of(all[1].second) == texts_of(run_of(1)));
}

TEST_CASE("lane journal: what cannot be opened fails each append until it can" * sqlite_only()) {
  folder f;
  store s(f.path + "/not/there/journal.db");
  for (int i = 0; i < 2; ++i) {
    const auto refused = s.write("1", run_of(1));
    REQUIRE_FALSE(refused.has_value());
    CHECK(contains(refused.error().message, "cannot be opened for writing"));
  }
  std::filesystem::create_directories(f.path + "/not/there");
  CHECK(s.write("1", run_of(1)).has_value());
}

TEST_CASE("lane journal: an append that the lane does not take in time fails and leaves nothing") {
  folder f;
  leave(f.file(), 2, 3);
  std::promise<void> release;
  auto released = release.get_future().share();
  {
    asio::io_context context(1);
    mcpbx::test::manual_time time;
    auto o = rules([released](const auto& records) {
      released.wait();
      return recovery_of(records);
    });
    o.max_wait = milliseconds(10'000);
    lane_journal journal(context.get_executor(), time, file_at(f.file()), std::move(o));
    auto a = journal.open_run("1"), b = journal.open_run("0");
    result<void> first = fail(errc::internal, ""), late;
    go(context, [&]() -> asio::awaitable<void> { first = co_await write_run(*a, run_of(1)); });
    go(context, [&]() -> asio::awaitable<void> { late = co_await write_run(*b, run_of(0)); });
    context.poll();
    time.advance(milliseconds(9'999));
    CHECK(late.has_value());
    time.advance(milliseconds(1));
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().code == errc::io);
    CHECK(contains(late.error().message, "10000 ms"));
    CHECK(time.armed() == 0);
    release.set_value();
    context.run();
    CHECK(first.has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 2);
  CHECK((all[0].first.run == "2" && all[1].first.run == "1"));
}
