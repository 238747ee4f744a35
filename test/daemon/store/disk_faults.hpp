// A disk that fails to order, below SQLite: writes through the hooks of its own VFS, fsync and fdatasync as the
// functions that its library finds in this program.
#pragma once

namespace mcpbx::daemon::test {

/// While it lives, the disk does what its members say.
struct disk_faults {
  disk_faults();
  ~disk_faults();
  disk_faults(const disk_faults&) = delete;
  disk_faults& operator=(const disk_faults&) = delete;

  int write_error = 0;  ///< an errno with which every write fails; 0: none does
  int short_by = 0;     ///< every write takes at most so many bytes; 0: all
  int sync_error = 0;   ///< an errno with which every fsync fails
  int syncs = 0;        ///< how often somebody waited for the disk
  int writes = 0;
};

}  // namespace mcpbx::daemon::test
