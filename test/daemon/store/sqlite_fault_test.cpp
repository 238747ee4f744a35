// A disk that fails: nothing is acknowledged that is not there, and when it works again so does the journal.
#include "test/daemon/store/disk_faults.hpp"
#include "test/daemon/store/sessions_fixture.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::test;

TEST_CASE("G23: a synced append waits for the disk, another one does not" * sqlite_only()) {
  folder f;
  disk_faults disk;
  sqlite_store file({.path = f.file()});
  REQUIRE(file.open().has_value());
  const auto place = std::make_shared<run_place>(run_place{"1"});
  const auto records = run_of(1);
  REQUIRE(put(file, batch_of(place, {records[0]}), true).has_value());
  const int before = disk.syncs, written = disk.writes;
  REQUIRE(put(file, batch_of(place, {records[1]})).has_value());
  CHECK(disk.syncs == before);
  CHECK(disk.writes > written);  // yet it is with the system, and survives this process
  REQUIRE(put(file, batch_of(place, {records[2]}), true).has_value());
  CHECK(disk.syncs > before);
}

TEST_CASE("G25: writes that fail, for want of room or of a disk, and syncs that fail leave nothing acknowledged" *
          sqlite_only()) {
  using fault = disk_faults::fault;
  for (const auto what : {fault::write_error, fault::full, fault::sync_error}) {
    CAPTURE(static_cast<int>(what));
    folder f;
    {
      disk_faults disk;
      store s(f.file());
      REQUIRE(s.write("1", run_of(1)).has_value());
      disk.arm(what);
      const auto failed = s.write("2", run_of(2));
      REQUIRE_FALSE(failed.has_value());
      CHECK(failed.error().code == errc::io);
      CHECK(contains(failed.error().message, f.file()));
      disk.disarm();
      CHECK(s.write("3", run_of(3)).has_value());  // by itself, without a restart
    }
    bool whole = false, later = false;
    for (const auto& [row, records] : contents(f.file())) {
      CHECK(fault_of(records) == "");
      whole = whole || texts_of(records) == texts_of(run_of(1));
      later = later || texts_of(records) == texts_of(run_of(3));
    }
    CHECK(whole);
    CHECK(later);
  }
}

TEST_CASE("G49: a disk that takes no writes is the journal's trouble from the first that failed to one that works" *
          sqlite_only()) {
  using fault = disk_faults::fault;
  for (const auto what : {fault::write_error, fault::full, fault::sync_error}) {
    CAPTURE(static_cast<int>(what));
    folder f;
    disk_faults disk;
    sessions_store s(f.file());
    CHECK_FALSE(s.journal.trouble().has_value());
    REQUIRE(s.write("1", in_session("ses_1", 1)).has_value());
    CHECK_FALSE(s.journal.trouble().has_value());
    disk.arm(what);
    s.time.advance(milliseconds(1'000));
    const auto since = s.time.wall_ms();
    const auto failed = s.write("2", run_of(2));
    REQUIRE_FALSE(failed.has_value());
    REQUIRE(s.journal.trouble().has_value());
    CHECK(s.journal.trouble()->problem == failed.error().message);
    CHECK(s.journal.trouble()->since_ms == since);
    s.time.advance(milliseconds(1'000));
    CHECK_FALSE(s.write("3", run_of(3)).has_value());
    CHECK(s.journal.trouble()->since_ms == since);
    (void)s.list();  // a read that works does not end it
    REQUIRE(s.journal.trouble().has_value());
    CHECK(s.journal.trouble()->since_ms == since);
    disk.disarm();
    REQUIRE(s.write("4", run_of(1)).has_value());
    CHECK_FALSE(s.journal.trouble().has_value());
  }
}

TEST_CASE("a commit is one write, however many pages it has" * sqlite_only()) {
  folder f;
  disk_faults disk;
  sqlite_store file({.path = f.file()});
  REQUIRE(file.open().has_value());
  const auto first = std::make_shared<run_place>(run_place{"1"}), second = std::make_shared<run_place>(run_place{"2"});
  const auto records = run_of(1);
  REQUIRE(put(file, batch_of(first, {records[0]})).has_value());  // begins the log
  int before = disk.writes;
  REQUIRE(put(file, batch_of(first, {records[1]})).has_value());
  CHECK(disk.writes == before + 1);
  before = disk.writes;
  REQUIRE(put(file, batch_of(second, {records[0]})).has_value());  // a page of each table and index
  CHECK(disk.writes == before + 1);
  before = disk.writes;
  REQUIRE(put(file, batch_of(second, {records[1]}), true).has_value());
  CHECK(disk.writes == before + 1);
}

TEST_CASE("a commit larger than what is held, and than SQLite's cache, is whole" * sqlite_only()) {
  folder f;
  auto records = run_of(1);
  auto& messages = std::get<daemon::stored::record::run_started>(records.front()).messages;
  messages.push_back(providers::user_message(std::string(3 << 20, 'w')));
  {
    sqlite_store file({.path = f.file()});
    REQUIRE(file.open().has_value());
    const auto place = std::make_shared<run_place>(run_place{"1"});
    for (const auto& r : records) REQUIRE(put(file, batch_of(place, {r})).has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 1);
  CHECK(texts_of(all.front().second) == texts_of(records));
}

TEST_CASE("G25: writes that take seven bytes at a time have no effect at all" * sqlite_only()) {
  folder f;
  {
    disk_faults disk;
    disk.short_by = 7;
    store s(f.file());
    for (int n = 1; n < 5; ++n) CHECK(s.write(std::to_string(n), run_of(n)).has_value());
    CHECK(disk.writes > 1000);
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 4);
  for (int n = 1; n < 5; ++n) CHECK(texts_of(all[static_cast<std::size_t>(n) - 1].second) == texts_of(run_of(n)));
}

TEST_CASE("G25: a detached start whose sync failed was refused, and is not gone on with by the next daemon" *
          sqlite_only()) {
  folder f;
  {
    disk_faults disk;
    store s(f.file());
    REQUIRE(s.write("1", run_of(1)).has_value());
    disk.arm(disk_faults::fault::sync_error);
    auto started = opening();
    started.run = "night";
    started.detached = true;
    auto run = s.journal.open_run("night");
    result<void> outcome;
    s.context.restart();
    go(s.context, [&]() -> asio::awaitable<void> { outcome = co_await run->append({started}, true); });
    s.context.run();
    CHECK_FALSE(outcome.has_value());
    run.reset();
    disk.disarm();
    CHECK(s.write("3", run_of(3)).has_value());
  }
  for (const auto& [row, records] : contents(f.file())) {
    CAPTURE(row.run);
    CHECK(row.ended_ms != 0);
    CHECK(fault_of(records) == "");
  }
}

TEST_CASE("G24 G25: runs that are to go on are kept until the disk takes a write" * sqlite_only()) {
  using fault = disk_faults::fault;
  for (const auto what : {fault::write_error, fault::full, fault::half_write, fault::sync_error}) {
    CAPTURE(static_cast<int>(what));
    folder f;
    auto left = in_session("ses_1", 2);
    left.resize(3);
    REQUIRE(put(*opened(f.file()), batch_of(std::make_shared<run_place>(run_place{"night"}), left)).has_value());
    auto o = rules();
    o.rules.goes_on = [](const auto&) { return true; };
    sessions_store s(f.file(), std::move(o));
    const auto take = [&] {
      return s.ask<std::vector<unfinished_run>>([&](auto then) { s.journal.take_unfinished(then); });
    };
    REQUIRE(s.list().has_value());
    disk_faults disk;
    disk.arm(what);
    for (int i = 0; i < 3; ++i) {
      const auto refused = take();
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().code == errc::io);
      CHECK(contains(refused.error().message, f.file()));
    }
    CHECK(disk.struck() > 0);
    disk.disarm();
    auto taken = take();
    REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
    REQUIRE(taken->size() == 1);
    auto handed_out = left;
    handed_out.emplace_back(daemon::stored::record::taken_over{});
    CHECK(texts_of(taken->front().records) == texts_of(handed_out));
    const int writes = disk.writes;
    CHECK(take().value().empty());
    CHECK(disk.writes == writes);  // nothing to hand out, nothing to prove
  }
}
