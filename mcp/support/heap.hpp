// Gives memory that is no longer needed back to the system.
#pragma once

namespace mcpbx {

/// Gives free heap memory back. The C library keeps small freed blocks below live ones forever, so one slow caller with
/// a large outbox would leave the daemon at its largest size. Walks the whole heap (milliseconds): call it rarely.
void give_back_free_memory() noexcept;

/// Releases pages of the program and its libraries that can be read again from their files: code, constants, the
/// linker's tables. Most were needed at the start only, but count as the process's size until the system needs memory.
/// Pages still in use come back by some dozens of page faults. Call it at the end of the start.
void forget_program_pages() noexcept;

}  // namespace mcpbx
