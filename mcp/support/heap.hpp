// Memory that is free in the heap, given back to the system.
#pragma once

namespace mcpbx {

/// What a large outbox held were many small blocks, and the C library keeps such memory: some of it below blocks that
/// still live, where it never shrinks by itself. One slow caller would leave the daemon as large as it ever was. Walks
/// the whole heap (milliseconds), so it is for rare moments only.
void give_back_free_memory() noexcept;

}  // namespace mcpbx
