// Joins the writes of SQLite's write-ahead log. SQLite writes two pieces for each page of a transaction; the file
// system gets one write for all of them.
#pragma once

namespace mcpbx::daemon::sqlite {

/// Returns the name of a VFS for sqlite3_open_v2() that writes each transaction of a log at once and is the default VFS
/// in all else. Registers it when it is first called. Null: SQLite has no default VFS, or no memory.
///
/// A transaction is with the file system when its last page has been written, as without this VFS: what is held until
/// then counts for nothing, since the log ends before it (https://www.sqlite.org/fileformat2.html#walformat). An error
/// of the joined write is that of the last page, which SQLite takes as the failure of the transaction. For a database
/// that one connection locks exclusively (PRAGMA locking_mode), because others would not see what is held.
const char* joined_log_vfs();

}  // namespace mcpbx::daemon::sqlite
