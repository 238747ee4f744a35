// The journal's file: made, refused, written all or nothing.
#include "daemon/store/sqlite_file.hpp"

#include "test/daemon/store/sample_records.hpp"
#include "test/daemon/store/store_fixture.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::daemon;
using namespace mcpbx::daemon::test;

namespace {

std::string refusal(sqlite_file::options o) {
  sqlite_file file(std::move(o));
  const auto opened = file.open();
  CHECK_FALSE(file.is_open() != opened.has_value());
  return opened ? "opened" : opened.error().message;
}

void with_plain_sqlite(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

mode_t mode_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 0777;
}

}  // namespace

TEST_CASE("sqlite file: every kind of record comes back from the disk") {
  folder f;
  auto records = sample_records();
  std::swap(records[records.size() - 2], records.back());
  REQUIRE(std::holds_alternative<record::run_ended>(records.back()));
  {
    sqlite_file file({.path = f.file()});
    REQUIRE(file.open().has_value());
    CHECK(put(file, batch_of(std::make_shared<run_place>(run_place{"run-1"}), records), true).has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 1);
  CHECK(texts_of(all[0].second) == texts_of(records));
  const auto& row = all[0].first;
  CHECK((row.run == "run-1" && row.session == "session-1" && row.principal == "uid 1000"));
  CHECK((row.model == "configured-1" && row.started_ms == 1 && row.ended_ms == 1 && row.reason == "repeated_calls"));
}

TEST_CASE("sqlite file: the files are readable by their user only") {
  folder f;
  const auto path = f.path + "/made/deep/journal.db";
  CHECK(contains(refusal({.path = path}), "cannot be opened for writing"));
  const auto before = ::umask(0);
  sqlite_file file({.path = path, .make_folder = true});
  REQUIRE(file.open().has_value());
  CHECK(put(file, batch_of(std::make_shared<run_place>(run_place{"r"}), run_of(1))).has_value());
  ::umask(before);
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(path + "-wal") == 0600);
  CHECK(mode_of(f.path + "/made/deep") == 0700);
}

TEST_CASE("sqlite file: an append is all or nothing and a place is taken once") {
  folder f;
  sqlite_file file({.path = f.file()});
  REQUIRE(file.open().has_value());
  const auto records = run_of(1);
  auto ours = std::make_shared<run_place>(run_place{"r"});
  REQUIRE(put(file, batch_of(ours, {records[0], records[1]})).has_value());
  CHECK((ours->id == 1 && ours->next_seq == 2));
  // Another writer of the same run, who has not seen the second record.
  auto theirs = std::make_shared<run_place>(run_place{"r", ours->id, 1});
  auto other = std::make_shared<run_place>(run_place{"other"});
  auto good = batch_of(other, run_of(2)), bad = batch_of(theirs, {records[2]});
  std::vector<run_batch*> both{&good, &bad};
  const auto refused = file.append(both, false);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::io);
  CHECK(contains(refused.error().message, "another process went on with the run"));
  CHECK((other->id == 0 && other->next_seq == 0 && theirs->next_seq == 1));
  CHECK(file.runs().value().size() == 1);
  CHECK(file.records(ours->id).value().size() == 2);
  CHECK(put(file, batch_of(ours, {records[2]}), true).has_value());
}

TEST_CASE("sqlite file: a newer version and a file of somebody else are refused untouched") {
  folder f;
  CHECK(refusal({.path = f.file()}) == "opened");
  with_plain_sqlite(f.file(), "UPDATE schema SET version=3");
  CHECK(contains(refusal({.path = f.file()}), "is of version 3 and this mcpbx knows versions up to 2"));
  const auto foreign = f.path + "/foreign.db";
  with_plain_sqlite(foreign, "CREATE TABLE theirs(x)");
  CHECK(contains(refusal({.path = foreign}), "belongs to another program"));
  const auto junk = f.path + "/junk.db";
  std::ofstream(junk) << std::string(5'000, 'j');
  CHECK(contains(refusal({.path = junk}), "damaged or no SQLite file"));
  CHECK(contains(refusal({.path = f.path}), "cannot be opened for writing"));
}

TEST_CASE("sqlite file: one that another process has open is refused until that one ends") {
  folder f;
  pipe_pair ready, go_on;
  const auto pid = in_child([&] {
    go_on.close(1);
    sqlite_file file({.path = f.file()});
    if (!file.open() || !put(file, batch_of(std::make_shared<run_place>(run_place{"r"}), run_of(0)))) ::_exit(1);
    ready.say("open");
    go_on.line();
  });
  CHECK(ready.line() == "open");
  CHECK(contains(refusal({.path = f.file(), .busy_ms = 10}), "is in use by another process"));
  go_on.close(1);
  CHECK(end_of(pid) == 0);
  CHECK(refusal({.path = f.file(), .busy_ms = 10}) == "opened");
}

TEST_CASE("sqlite file: a folder that may not be written to is an error with its mend") {
  folder f;
  REQUIRE(::chmod(f.path.c_str(), 0555) == 0);
  pipe_pair said;
  const auto pid = in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);  // root may write everywhere
    sqlite_file file({.path = f.file()});
    const auto opened = file.open();
    said.say(opened ? "opened" : opened.error().message);
  });
  const auto message = said.line();
  CHECK(contains(message, "cannot be opened for writing (Permission denied)"));
  CHECK(contains(message, "make it and its folder writable"));
  CHECK(end_of(pid) == 0);
  ::chmod(f.path.c_str(), 0700);
}
