// Joins the writes of SQLite's write-ahead log. SQLite writes two pieces for each page of a transaction; the file
// system gets one write for all of them.
#pragma once

namespace mcpbx::daemon::sqlite {

/// Returns the name of a VFS for sqlite3_open_v2() that writes each transaction of a log at once and is the default VFS
/// in all else; registers it when it is first called. Null: SQLite has no default VFS, or no memory.
const char* joined_log_vfs();

}  // namespace mcpbx::daemon::sqlite
