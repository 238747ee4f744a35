// Runs SQLite's quick_check on a connection that only reads.
#include "daemon/store/sqlite/sqlite_check.hpp"

#include <sqlite3.h>

#include <sys/stat.h>

#include <memory>
#include <string_view>

namespace mcpbx::daemon::sqlite {
namespace {

using clock = std::chrono::steady_clock;

int past_limit(void* deadline) {
  return clock::now() >= *static_cast<const clock::time_point*>(deadline) ? 1 : 0;
}

result<void> outcome_of(sqlite3* db, int code, const std::string& path) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(errc::unavailable, path + " is in use by a daemon");
    case SQLITE_INTERRUPT:
      return fail(errc::timed_out, path + " is too large to be checked in time");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(errc::parse, sqlite3_errmsg(db));
    default:
      return fail(errc::io, path + " cannot be read: " + sqlite3_errmsg(db));
  }
}

// Returns the path as a URI of a file that nobody changes. SQLite then takes no lock and makes no file beside it.
std::string unchanging(const std::string& path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-").contains(c);
    const auto byte = static_cast<unsigned char>(c);
    if (plain)
      uri += c;
    else
      uri.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return uri + "?immutable=1";
}

}  // namespace

result<void> check_sqlite_file(const std::string& path, std::chrono::milliseconds at_most) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return fail(errc::not_found, "there is no file " + path);
  if (!S_ISREG(s.st_mode)) return fail(errc::io, path + " is no regular file");
  // A daemon that has the file open, or was killed, leaves a write-ahead log; without one nobody is about to write.
  const auto has_log = [&] {
    struct stat log{};
    return ::stat((path + "-wal").c_str(), &log) == 0;
  };
  const bool quiet = !has_log();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2((quiet ? unchanging(path) : path).c_str(), &opened,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (quiet ? SQLITE_OPEN_URI : 0), nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> db(opened, sqlite3_close);
  if (code != SQLITE_OK) return outcome_of(db.get(), code, path);
  sqlite3_busy_timeout(db.get(), 0);
  auto deadline = clock::now() + at_most;
  sqlite3_progress_handler(db.get(), 1000, past_limit, &deadline);
  sqlite3_stmt* prepared = nullptr;
  const int ready = sqlite3_prepare_v2(db.get(), "PRAGMA quick_check(1)", -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  if (ready != SQLITE_OK) return outcome_of(db.get(), ready, path);
  const int stepped = sqlite3_step(statement.get());
  if (quiet && has_log()) return fail(errc::unavailable, path + " is in use by a daemon");  // it has just started
  if (stepped != SQLITE_ROW) return outcome_of(db.get(), stepped, path);
  const auto* words = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
  const std::string said = words == nullptr ? "" : words;
  if (said != "ok") return fail(errc::parse, said);
  return {};
}

}  // namespace mcpbx::daemon::sqlite
