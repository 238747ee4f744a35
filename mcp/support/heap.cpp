// Returns memory to the system with malloc_trim() and madvise().
#include "mcp/support/heap.hpp"

#include "mcp/support/shared_bytes.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace mcpbx {
namespace {

int forget_pages_of(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const auto& part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    // Pages mapped without write permission are unchanged pages of the file, so they can be read again.
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + part.p_vaddr) / page * page;
    const std::uintptr_t end = (object->dlpi_addr + part.p_vaddr + part.p_memsz + page - 1) / page * page;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void give_back_free_memory() noexcept {
  byte_buffer::drop_spare();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void forget_program_pages() noexcept {
  ::dl_iterate_phdr(forget_pages_of, nullptr);
}

}  // namespace mcpbx
