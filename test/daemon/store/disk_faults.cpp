// Replaces system calls of SQLite's own file system.
#include "test/daemon/store/disk_faults.hpp"

#include <sqlite3.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace mcpbx::daemon::test {
namespace {

disk_faults* present = nullptr;

int failed(int why) {
  errno = why;
  return -1;
}

ssize_t write_at(int fd, const void* bytes, std::size_t count, off_t offset) {
  unsigned long most = count;
  if (const int why = present ? present->before_write(most) : 0; why != 0) return failed(why);
  return ::pwrite(fd, bytes, most, offset);
}

ssize_t read_at(int fd, void* bytes, std::size_t count, off_t offset) {
  if (const int why = present ? present->before_read() : 0; why != 0) return failed(why);
  return ::pread(fd, bytes, count, offset);
}

int sync(int fd, long call) {
  if (const int why = present ? present->before_sync() : 0; why != 0) return failed(why);
  return present && !present->waits ? 0 : static_cast<int>(::syscall(call, fd));
}

// Null puts back what was there.
void hook(sqlite3_syscall_ptr read, sqlite3_syscall_ptr write) {
  auto* vfs = sqlite3_vfs_find(nullptr);
  for (const char* name : {"pread", "pread64"}) vfs->xSetSystemCall(vfs, name, read);
  for (const char* name : {"pwrite", "pwrite64"}) vfs->xSetSystemCall(vfs, name, write);
}

}  // namespace

disk_faults::disk_faults() {
  present = this;
  hook(reinterpret_cast<sqlite3_syscall_ptr>(&read_at), reinterpret_cast<sqlite3_syscall_ptr>(&write_at));
}
disk_faults::~disk_faults() {
  hook(nullptr, nullptr);
  present = nullptr;
}

void disk_faults::arm(fault what, int nth, bool lasting) {
  what_ = what;
  left_ = nth;
  lasting_ = lasting;
  armed_ = true;
  struck_ = 0;
}

void disk_faults::disarm() {
  armed_ = half_done_ = false;
}

bool disk_faults::strikes(fault what) {
  if (!armed_ || what != what_) return false;
  if (left_ > 0) --left_;
  if (left_ > 0) return false;
  ++struck_;
  armed_ = lasting_;
  return true;
}

int disk_faults::before_read() {
  return strikes(fault::read_error) ? EIO : 0;
}

int disk_faults::before_sync() {
  ++syncs;
  return strikes(fault::sync_error) ? EIO : 0;
}

int disk_faults::before_write(unsigned long& count) {
  ++writes;
  if (std::exchange(half_done_, false)) return ENOSPC;
  if (strikes(fault::full)) return ENOSPC;
  if (strikes(fault::write_error)) return EIO;
  if (strikes(fault::half_write)) {
    if (count < 2) return ENOSPC;
    half_done_ = true;
    count /= 2;
  }
  if (short_by != 0) count = std::min(count, static_cast<unsigned long>(short_by));
  return 0;
}

}  // namespace mcpbx::daemon::test

extern "C" int fsync(int fd) {
  return mcpbx::daemon::test::sync(fd, SYS_fsync);
}
extern "C" int fdatasync(int fd) {
  return mcpbx::daemon::test::sync(fd, SYS_fdatasync);
}
