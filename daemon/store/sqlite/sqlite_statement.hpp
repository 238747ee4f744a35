// One use of a prepared statement of a sqlite_store. The destructor resets the statement.
#pragma once
#include "daemon/store/sqlite/sqlite_store.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <string_view>

// SQL condition for the records of a run by their key: the run's id followed by 24 bits of seq. The columns run and seq
// are computed from the key and have no index.
#define MCPBX_PLACES_OF(run) "place BETWEEN " run " << 24 AND " run " << 24 | 0xffffff"

namespace mcpbx::daemon::sqlite {

class sqlite_store::statement {
 public:
  /// `sql` is a string literal. A statement must not be in use twice at a time.
  statement(sqlite_store& file, const char* sql) : handle_(file.prepared(sql)) {}
  ~statement() {
    if (!handle_) return;  // sqlite3_clear_bindings takes no null
    sqlite3_reset(handle_);
    sqlite3_clear_bindings(handle_);
  }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  statement& bind(int at, std::int64_t value) {
    if (handle_) sqlite3_bind_int64(handle_, at, value);
    return *this;
  }
  /// `text` must live until the statement has run.
  statement& bind(int at, std::string_view text) {
    if (handle_)
      bound_ = bound_ && sqlite3_bind_text64(handle_, at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                                             SQLITE_UTF8) == SQLITE_OK;
    return *this;
  }
  int step() { return handle_ && bound_ ? sqlite3_step(handle_) : SQLITE_ERROR; }
  /// Resets the statement for use with other values.
  void reset() { sqlite3_reset(handle_); }
  std::int64_t integer(int column) { return sqlite3_column_int64(handle_, column); }
  std::string_view text(int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
                 : std::string_view();
  }
  std::string owned(int column) { return std::string(text(column)); }

 private:
  sqlite3_stmt* handle_;
  bool bound_ = true;
};

}  // namespace mcpbx::daemon::sqlite
