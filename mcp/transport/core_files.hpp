// The daemon and the keeper hold resolved secrets, which must not end up in a core file (guarantees row 35).
#pragma once

namespace mcpbx::mcp {

/// From now on the calling process leaves no core file, whatever takes them (core(5)). What it forks inherits this. The
/// limit that was there before the first call is remembered.
void forbid_core_files() noexcept;
/// Back to the limit that was remembered, for a program that is not ours. Async-signal-safe.
void allow_core_files_again() noexcept;

}  // namespace mcpbx::mcp
