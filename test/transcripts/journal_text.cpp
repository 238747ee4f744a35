// Reads the tables of a journal with SQLite itself.
#include "test/transcripts/journal_text.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>

namespace mcpbx::transcripts {

namespace fs = std::filesystem;

namespace {

using row = std::function<std::string(int column)>;

void each_row(sqlite3* db, const std::string& query, const std::function<void(const row&)>& then) {
  sqlite3_stmt* statement = nullptr;
  REQUIRE_MESSAGE(sqlite3_prepare_v2(db, query.c_str(), -1, &statement, nullptr) == SQLITE_OK, sqlite3_errmsg(db));
  int stepped = 0;
  while ((stepped = sqlite3_step(statement)) == SQLITE_ROW)
    then([&](int column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return text ? std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))) : "null";
    });
  CHECK(stepped == SQLITE_DONE);
  sqlite3_finalize(statement);
}

}  // namespace

std::vector<std::string> journal_rows(const std::string& file, const std::string& copy) {
  for (const char* part : {"", "-wal"}) {
    fs::remove(copy + part);
    if (fs::exists(file + part)) fs::copy_file(file + part, copy + part);
  }
  std::vector<std::string> lines;
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(copy.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
  each_row(db, "SELECT id, run, session, principal, model, reason FROM runs ORDER BY id", [&](const row& r) {
    lines.push_back("run " + r(1) + " session " + r(2) + " principal " + r(3) + " model " + r(4) + " reason " + r(5));
    each_row(db, "SELECT seq, body FROM records WHERE run = " + r(0) + " ORDER BY seq",
             [&](const row& one) { lines.push_back(one(0) + " " + one(1)); });
  });
  sqlite3_close(db);
  return lines;
}

}  // namespace mcpbx::transcripts
