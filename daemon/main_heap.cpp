// The daemon's operators new and delete: malloc() and free(), with the blocks that the main thread has kept in between
// (mcp/support/block_cache.hpp). The sanitizers bring their own.
#include "mcp/support/block_cache.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define MCPBX_OWN_NEW
#endif
#else
#define MCPBX_OWN_NEW
#endif
#endif

#ifdef MCPBX_OWN_NEW
#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

void* operator new(std::size_t bytes) {
  if (void* const kept = mcpbx::block_cache::take(bytes)) return kept;
  for (;;) {
    if (void* const memory = std::malloc(mcpbx::block_cache::rounded(bytes))) return memory;
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory, std::size_t bytes) noexcept {
  if (!mcpbx::block_cache::give(memory, bytes)) std::free(memory);
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr && !mcpbx::block_cache::give_usable(memory, ::malloc_usable_size(memory))) std::free(memory);
}

void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void operator delete[](void* memory) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory, std::size_t bytes) noexcept {
  operator delete(memory, bytes);
}
#endif
