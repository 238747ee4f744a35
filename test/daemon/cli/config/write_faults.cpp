// The calls go to the kernel directly, since their names are taken here.
#include "test/daemon/cli/config/write_faults.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mcpbx::test {
namespace {

write_fault armed = write_fault::none;
int at_step = 0, steps = 0;

/// Returns true if this call is to fail.
bool fault() {
  const bool now = steps++ == at_step && armed != write_fault::none;
  if (now && armed == write_fault::killed) ::kill(::getpid(), SIGKILL);
  if (now) errno = EIO;
  return now;
}

}  // namespace

void arm_write_fault(write_fault what, int step) {
  armed = what;
  at_step = step;
  steps = 0;
}

int write_steps() {
  return steps;
}

template <class... Args>
int call(long number, Args... args) {
  return fault() ? -1 : static_cast<int>(::syscall(number, args...));
}

}  // namespace mcpbx::test

// Costs time and proves nothing where no power is lost.
extern "C" int fsync(int) {
  return mcpbx::test::fault() ? -1 : 0;
}
extern "C" int rename(const char* from, const char* to) noexcept {
  return mcpbx::test::call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0U);
}
extern "C" int unlink(const char* path) noexcept {
  return mcpbx::test::call(SYS_unlinkat, AT_FDCWD, path, 0);
}
extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  return mcpbx::test::call(SYS_mkdirat, AT_FDCWD, path, mode);
}
