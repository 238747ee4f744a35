// A disk that fails to order, below SQLite: reads and writes through the hooks of its own VFS
// (https://sqlite.org/vfs.html, xSetSystemCall), fsync and fdatasync as the functions that its library finds in this
// program.
#pragma once

namespace mcpbx::daemon::test {

/// While it lives, the disk does what it is told. One at a time; used by one thread at a time.
class disk_faults {
 public:
  enum class fault {
    full,         ///< a write fails with ENOSPC
    write_error,  ///< a write fails with EIO
    half_write,   ///< half of a write is done, what is left of it fails with ENOSPC
    sync_error,   ///< fsync and fdatasync fail with EIO
    read_error    ///< a read fails with EIO
  };

  disk_faults();
  ~disk_faults();
  disk_faults(const disk_faults&) = delete;
  disk_faults& operator=(const disk_faults&) = delete;

  /// The `nth` call (from 1) that `what` can hit fails, and with `lasting` all that come after it.
  void arm(fault what, int nth = 1, bool lasting = true);
  void disarm();
  /// Calls that failed since arm().
  int struck() const { return struck_; }

  int short_by = 0;   ///< every write takes at most so many bytes; 0: all
  bool waits = true;  ///< false: a sync that does not fail does nothing, for tests with thousands of them
  int syncs = 0;      ///< number of waits for the disk
  int writes = 0;

  /// For the functions in front of the system's. 0: the call may be made; else the errno with which it fails.
  int before_read();
  int before_sync();
  /// `count` is made less where only a part of it is written.
  int before_write(unsigned long& count);

 private:
  bool strikes(fault what);
  fault what_ = fault::full;
  int left_ = 0, struck_ = 0;
  bool lasting_ = false, armed_ = false;
  bool half_done_ = false;  // the rest of a partial write fails
};

}  // namespace mcpbx::daemon::test
