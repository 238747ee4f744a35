// The joined writes of a log, as SQLite makes them, piece by piece.
#include "daemon/store/sqlite/joined_log.hpp"

#include "test/daemon/store/disk_faults.hpp"
#include "test/daemon/store/store_fixture.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::test;

namespace {

constexpr int log_header = 32, frame_header = 24, page = 512, frame = frame_header + page;

/// A log that is open, as SQLite opens it.
struct open_log {
  const folder place;
  const std::string path = place.path + "/some.db-wal";
  sqlite3_vfs* const vfs = sqlite3_vfs_find(joined_log_vfs());
  std::vector<std::max_align_t> memory;
  sqlite3_file* file = nullptr;

  open_log() {
    REQUIRE(vfs != nullptr);
    const std::ofstream database(place.path + "/some.db");  // SQLite looks at its mode
    memory.resize(static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1);
    file = reinterpret_cast<sqlite3_file*>(memory.data());
    int taken = 0;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
    REQUIRE(vfs->xOpen(vfs, path.c_str(), file, flags, &taken) == SQLITE_OK);
    REQUIRE(write(std::string(log_header, 'h'), 0) == SQLITE_OK);
  }
  ~open_log() { file->pMethods->xClose(file); }
  open_log(const open_log&) = delete;
  open_log& operator=(const open_log&) = delete;

  int write(const std::string& piece, sqlite3_int64 at) {
    whole.resize(std::max(whole.size(), static_cast<std::size_t>(at) + piece.size()));
    whole.replace(static_cast<std::size_t>(at), piece.size(), piece);
    return file->pMethods->xWrite(file, piece.data(), static_cast<int>(piece.size()), at);
  }
  /// Writes frame `n` from 0; `last`: it ends a transaction.
  int write_frame(int n, bool last) {
    std::string header(frame_header, '\0');
    header[3] = static_cast<char>(n + 1);
    if (last) header[7] = 9;
    const sqlite3_int64 at = log_header + sqlite3_int64{frame} * n;
    const int failed = write(header, at);
    return failed != SQLITE_OK ? failed : write(std::string(page, static_cast<char>('a' + n)), at + frame_header);
  }
  std::string read_page(int n) {
    std::string got(page, '?');
    const sqlite3_int64 at = log_header + sqlite3_int64{frame} * n + frame_header;
    return file->pMethods->xRead(file, got.data(), page, at) == SQLITE_OK ? got : "not read";
  }
  std::string on_disk() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string whole;  // all that was written
};

}  // namespace

TEST_CASE("joined log: the frames of a transaction are one write, which comes with the last page" * sqlite_only()) {
  disk_faults disk;
  open_log log;
  const int before = disk.writes;
  for (int n = 0; n < 3; ++n) REQUIRE(log.write_frame(n, false) == SQLITE_OK);
  CHECK(disk.writes == before);
  REQUIRE(log.write_frame(3, true) == SQLITE_OK);
  CHECK(disk.writes == before + 1);
  CHECK(log.on_disk() == log.whole);
}

TEST_CASE("joined log: a read of a held frame needs no disk and takes nothing from the transaction" * sqlite_only()) {
  disk_faults disk;
  open_log log;
  for (int n = 0; n < 3; ++n) REQUIRE(log.write_frame(n, false) == SQLITE_OK);
  disk.arm(disk_faults::fault::full);
  for (int n = 0; n < 3; ++n) CHECK(log.read_page(n) == std::string(page, static_cast<char>('a' + n)));
  CHECK(disk.struck() == 0);
  disk.disarm();
  REQUIRE(log.write_frame(3, true) == SQLITE_OK);
  CHECK(log.on_disk() == log.whole);
}

TEST_CASE("joined log: a page that is written again and a log that begins anew leave no old bytes" * sqlite_only()) {
  open_log log;
  REQUIRE(log.write_frame(0, false) == SQLITE_OK);
  REQUIRE(log.write_frame(1, false) == SQLITE_OK);
  REQUIRE(log.write(std::string(page, 'Z'), log_header + frame_header) == SQLITE_OK);
  CHECK(log.read_page(0) == std::string(page, 'Z'));
  REQUIRE(log.write_frame(2, true) == SQLITE_OK);
  CHECK(log.on_disk() == log.whole);
  REQUIRE(log.write(std::string(log_header, 'n'), 0) == SQLITE_OK);
  REQUIRE(log.write_frame(0, true) == SQLITE_OK);
  CHECK(log.on_disk() == log.whole);
}

TEST_CASE("joined log: frames whose write failed are not written later behind the back of SQLite" * sqlite_only()) {
  disk_faults disk;
  open_log log;
  REQUIRE(log.write_frame(0, true) == SQLITE_OK);
  const auto kept = log.on_disk();
  REQUIRE(log.write_frame(1, false) == SQLITE_OK);
  disk.arm(disk_faults::fault::full);
  CHECK(log.write_frame(2, true) == SQLITE_FULL);
  disk.disarm();
  CHECK(log.read_page(0) == std::string(page, 'a'));
  CHECK(log.on_disk() == kept);
  log.whole = kept;
  REQUIRE(log.write_frame(1, true) == SQLITE_OK);  // SQLite goes on where the transaction began
  CHECK(log.on_disk() == log.whole);
}
