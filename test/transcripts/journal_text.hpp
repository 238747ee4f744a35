// The journal as SQLite holds it: read by itself, so that a change of what is written cannot hide in how it is read.
#pragma once
#include <string>
#include <vector>

namespace mcpbx::transcripts {

/// Returns a line for each run in a journal's file, and behind it each of its records, byte for byte. It reads a copy
/// in `copy`, because the daemon keeps the file for itself; what is committed stands in the file or in its log.
std::vector<std::string> journal_rows(const std::string& file, const std::string& copy);

}  // namespace mcpbx::transcripts
