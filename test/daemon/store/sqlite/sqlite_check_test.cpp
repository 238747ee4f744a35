// The check of a journal's file: what it finds, and that it leaves nothing behind.
#include "daemon/store/sqlite/sqlite_check.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::sqlite;
using std::chrono::milliseconds;

namespace {

using sqlite_handle = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

// Opens a file with a write-ahead log and a table that fills some pages.
sqlite_handle filled_database(const std::string& path) {
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &opened) == SQLITE_OK);
  sqlite_handle db(opened, sqlite3_close);
  constexpr auto text =
      "PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; CREATE TABLE t(x); WITH RECURSIVE n(i) AS (SELECT 1 "
      "UNION "
      "ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT hex(randomblob(20)) FROM n; CREATE INDEX u ON "
      "t(x);";
  REQUIRE(sqlite3_exec(db.get(), text, nullptr, nullptr, nullptr) == SQLITE_OK);
  return db;
}

errc fault_of_file(const std::string& path) {
  const auto checked = check_sqlite_file(path, milliseconds(20'000));
  REQUIRE_FALSE(checked);
  return checked.error().code;
}

}  // namespace

TEST_CASE("sqlite: the check tells a whole file from one that is in use, damaged, missing or something else") {
  const mcpbx::test::temporary_directory folder;
  const auto path = folder / "a b#%.db";
  {
    const auto db = filled_database(path);
    CHECK(fault_of_file(path) == errc::unavailable);
  }
  CHECK(check_sqlite_file(path, milliseconds(20'000)));
  std::size_t files = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder.path())) files += one.exists() ? 1 : 0;
  CHECK(files == 1);  // nothing was made beside it

  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(3 * 4096) << std::string(4096, 'x');
  CHECK(fault_of_file(path) == errc::parse);
  CHECK(fault_of_file(folder.write(
            "text", "this is no database, whatever its name says; it is a text of some length")) == errc::parse);
  CHECK(fault_of_file(folder / "none") == errc::not_found);
  CHECK(fault_of_file(folder.path()) == errc::io);
}
