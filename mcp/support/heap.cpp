// See heap.hpp.
#include "mcp/support/heap.hpp"

#include <malloc.h>

namespace mcpbx {

void give_back_free_memory() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace mcpbx
