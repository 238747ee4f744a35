// A disk that fails when it is told to: SQLite's own file system with faults in front of it
// (https://sqlite.org/vfs.html).
#pragma once
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstring>
#include <new>

namespace mcpbx::daemon::test {

/// While it lives it is SQLite's default. Nothing waits for the disk under it. One at a time; used by one thread at a
/// time.
class faulty_vfs {
 public:
  enum class fault { full, write_error, short_write, sync_error, read_error };

  faulty_vfs() : real_(sqlite3_vfs_find(nullptr)) {
    vfs_ = *real_;
    vfs_.zName = "faulty";
    vfs_.szOsFile = static_cast<int>(sizeof(file)) + real_->szOsFile;
    vfs_.pAppData = this;
    vfs_.pNext = nullptr;
    vfs_.xOpen = open;
    REQUIRE(sqlite3_vfs_register(&vfs_, 1) == SQLITE_OK);
  }
  ~faulty_vfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
  }
  faulty_vfs(const faulty_vfs&) = delete;
  faulty_vfs& operator=(const faulty_vfs&) = delete;

  /// The `nth` call (from 1) that `what` can hit fails, and with `lasting` all that come after it.
  void arm(fault what, int nth, bool lasting) {
    what_ = what;
    left_ = nth;
    lasting_ = lasting;
    armed_ = true;
    struck_ = 0;
  }
  void disarm() { armed_ = false; }
  /// Calls that failed since arm().
  int struck() const { return struck_; }

 private:
  struct file {
    sqlite3_file base;
    faulty_vfs* owner;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static file& of(sqlite3_file* f) { return *reinterpret_cast<file*>(f); }
  static sqlite3_file* real(sqlite3_file* f) { return of(f).real(); }

  bool strikes(fault what) {
    if (!armed_ || what != what_) return false;
    if (left_ > 0) --left_;
    if (left_ > 0) return false;
    ++struck_;
    armed_ = lasting_;
    return true;
  }

  static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* f, int flags, int* out) {
    auto* const owner = static_cast<faulty_vfs*>(vfs->pAppData);
    auto* const made = new (f) file{{nullptr}, owner};
    const int rc = owner->real_->xOpen(owner->real_, name, made->real(), flags, out);
    if (made->real()->pMethods) made->base.pMethods = &methods();
    return rc;
  }
  static int write(sqlite3_file* f, const void* bytes, int count, sqlite3_int64 at) {
    auto& owner = *of(f).owner;
    if (owner.strikes(fault::full)) return SQLITE_FULL;
    if (owner.strikes(fault::write_error)) return SQLITE_IOERR_WRITE;
    if (owner.strikes(fault::short_write)) {
      real(f)->pMethods->xWrite(real(f), bytes, count / 2, at);
      return SQLITE_FULL;
    }
    return real(f)->pMethods->xWrite(real(f), bytes, count, at);
  }
  static int read(sqlite3_file* f, void* bytes, int count, sqlite3_int64 at) {
    if (!of(f).owner->strikes(fault::read_error)) return real(f)->pMethods->xRead(real(f), bytes, count, at);
    std::memset(bytes, 0, static_cast<std::size_t>(count));
    return SQLITE_IOERR_READ;
  }
  static int sync(sqlite3_file* f, int) {
    return of(f).owner->strikes(fault::sync_error) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
  }
  // Version 1: without shared memory, as the journal uses it.
  static const sqlite3_io_methods& methods() {
    static const sqlite3_io_methods all = [] {
      sqlite3_io_methods m{};
      m.iVersion = 1;
      m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
      m.xRead = read;
      m.xWrite = write;
      m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) { return real(f)->pMethods->xTruncate(real(f), size); };
      m.xSync = sync;
      m.xFileSize = [](sqlite3_file* f, sqlite3_int64* s) { return real(f)->pMethods->xFileSize(real(f), s); };
      m.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
      m.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
      m.xCheckReservedLock = [](sqlite3_file* f, int* held) {
        return real(f)->pMethods->xCheckReservedLock(real(f), held);
      };
      m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
      };
      m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
      m.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
      return m;
    }();
    return all;
  }

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  fault what_ = fault::full;
  int left_ = 0, struck_ = 0;
  bool lasting_ = false, armed_ = false;
};

}  // namespace mcpbx::daemon::test
