// Memory that is not needed any more, given back to the system.
#pragma once

namespace mcpbx {

/// What a large outbox held were many small blocks, and the C library keeps such memory: some of it below blocks that
/// still live, where it never shrinks by itself. One slow caller would leave the daemon as large as it ever was. Walks
/// the whole heap (milliseconds), so it is for rare moments only.
void give_back_free_memory() noexcept;

/// Lets go of the pages of the program and its libraries that can be read again from their files: code, constants, the
/// linker's tables. Most of what a process has touched of them was needed for its start only, and is counted as its
/// size for as long as the system is not short of memory. What is still needed comes back with some dozens of page
/// faults, so this is for the end of a start.
void forget_program_pages() noexcept;

}  // namespace mcpbx
