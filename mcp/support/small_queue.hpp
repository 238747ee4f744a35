// A queue for objects of which there are thousands: it owns no memory while it is empty, and the blocks of its elements
// come from those that this thread has freed before (recycled.hpp), which are in the processor's caches still.
// std::deque owns more than half a KiB from the beginning, and a deque of small blocks gets and frees two of them for
// each element that comes and goes alone.
#pragma once
#include "mcp/support/recycled.hpp"

#include <list>

namespace mcpbx {

/// References to elements stay valid until these leave.
template <class T>
using small_queue = std::list<T, recycling_allocator<T>>;

}  // namespace mcpbx
