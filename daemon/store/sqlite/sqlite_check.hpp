// Checks the file of a SQLite journal without changing it, for `mcpbx doctor`.
#pragma once
#include "mcp/support/error.hpp"

#include <chrono>
#include <string>

namespace mcpbx::daemon::sqlite {

/// Reads the whole file and compares its structure. errc::parse: it is damaged; errc::unavailable: a daemon has it
/// open; errc::timed_out: it took longer than `at_most`; errc::not_found: there is none; errc::io. Blocks.
result<void> check_sqlite_file(const std::string& path, std::chrono::milliseconds at_most);

}  // namespace mcpbx::daemon::sqlite
