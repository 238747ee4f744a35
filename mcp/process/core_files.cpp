// Sets the soft limit on core files. The hard limit stays, so that tool servers, also those of a replacement keeper,
// get back the limit that the daemon was started with.
#include "mcp/process/core_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace mcpbx::mcp::process {
namespace {

bool remembered = false;
rlim_t before = 0;

void set_soft_limit(rlim_t value) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  ::setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace

void forbid_core_files() noexcept {
  rlimit limit{};
  if (!remembered && ::getrlimit(RLIMIT_CORE, &limit) == 0) {
    before = limit.rlim_cur;
    remembered = true;
  }
  // A limit of 1 byte also turns off programs that take cores from a pipe; 0 does not.
  set_soft_limit(1);
}

void allow_core_files_again() noexcept {
  if (remembered) set_soft_limit(before);
}

}  // namespace mcpbx::mcp::process
