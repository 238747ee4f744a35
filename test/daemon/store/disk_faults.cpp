#include "test/daemon/store/disk_faults.hpp"

#include <sqlite3.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mcpbx::daemon::test {
namespace {

disk_faults* present = nullptr;

ssize_t write_at(int fd, const void* bytes, std::size_t count, off_t offset) {
  if (present) {
    ++present->writes;
    if (present->write_error != 0) {
      errno = present->write_error;
      return -1;
    }
    if (present->short_by != 0) count = std::min(count, static_cast<std::size_t>(present->short_by));
  }
  return ::pwrite(fd, bytes, count, offset);
}

int sync(int fd, long call) {
  if (present) {
    ++present->syncs;
    if (present->sync_error != 0) {
      errno = present->sync_error;
      return -1;
    }
  }
  return static_cast<int>(::syscall(call, fd));
}

void hook(sqlite3_syscall_ptr f) {
  auto* vfs = sqlite3_vfs_find(nullptr);
  for (const char* name : {"pwrite", "pwrite64"}) vfs->xSetSystemCall(vfs, name, f);
}

}  // namespace

disk_faults::disk_faults() {
  present = this;
  hook(reinterpret_cast<sqlite3_syscall_ptr>(&write_at));
}
disk_faults::~disk_faults() {
  hook(nullptr);
  present = nullptr;
}

}  // namespace mcpbx::daemon::test

extern "C" int fsync(int fd) {
  return mcpbx::daemon::test::sync(fd, SYS_fsync);
}
extern "C" int fdatasync(int fd) {
  return mcpbx::daemon::test::sync(fd, SYS_fdatasync);
}
