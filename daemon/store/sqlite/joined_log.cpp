// A VFS (https://www.sqlite.org/vfs.html) whose log files hold the frames of a transaction until its last one.
#include "daemon/store/sqlite/joined_log.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace mcpbx::daemon::sqlite {
namespace {

constexpr int log_header_bytes = 32, frame_header_bytes = 24;
constexpr std::size_t most_held = 64 * 1024;

// The frames that are held, and the place where the next one is expected.
struct held_frames {
  std::unique_ptr<char[]> bytes{new (std::nothrow) char[most_held]};
  std::size_t size = 0;
  sqlite3_int64 begin = 0;        // place of the first one that is held
  sqlite3_int64 end = 0;          // end of the last frame that was written or is held; 0: not known
  bool ends_transaction = false;  // the header held last is that of the last frame of a transaction
};

// A log file. The file of the default VFS stands behind it, in the same memory.
struct log_file {
  sqlite3_file base;  // first, because SQLite sees nothing else
  held_frames* held;
};

log_file& log_of(sqlite3_file* file) {
  return *reinterpret_cast<log_file*>(file);
}
sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<log_file*>(file) + 1);
}
const sqlite3_io_methods& methods_of(sqlite3_file* real) {
  return *real->pMethods;
}

// Writes what is held. After an error it is forgotten: SQLite writes the transaction anew, or gives it up.
int write_held(sqlite3_file* file) {
  held_frames& held = *log_of(file).held;
  const std::size_t size = held.size;
  held.size = 0;
  if (size == 0) return SQLITE_OK;
  return methods_of(real_of(file)).xWrite(real_of(file), held.bytes.get(), static_cast<int>(size), held.begin);
}

// Holds a piece behind the others.
int hold(sqlite3_file* file, const void* piece, int size, sqlite3_int64 at) {
  held_frames& held = *log_of(file).held;
  if (held.size == 0) held.begin = at;
  std::memcpy(held.bytes.get() + held.size, piece, static_cast<std::size_t>(size));
  held.size += static_cast<std::size_t>(size);
  held.end = at + size;
  return SQLITE_OK;
}

// Holds headers of frames that are appended, and the pages behind them. Headers that are written anew stand before the
// end, and no page follows them.
int write_piece(sqlite3_file* file, const void* piece, int size, sqlite3_int64 at) {
  held_frames& held = *log_of(file).held;
  const bool appended = at == held.end;
  const bool fits = held.size + static_cast<std::size_t>(size) <= most_held;
  if (appended && size == frame_header_bytes) {
    if (!fits)
      if (const int failed = write_held(file); failed != SQLITE_OK) return failed;
    // A frame that ends a transaction has the size of the database behind the number of its page.
    const auto* header = static_cast<const unsigned char*>(piece);
    held.ends_transaction = std::any_of(header + 4, header + 8, [](unsigned char c) { return c != 0; });
    return hold(file, piece, size, at);
  }
  if (appended && held.size != 0 && fits) {
    hold(file, piece, size, at);
    return held.ends_transaction ? write_held(file) : SQLITE_OK;
  }
  if (const int failed = write_held(file); failed != SQLITE_OK) return failed;
  if (at == 0 && size == log_header_bytes)
    held.end = log_header_bytes;  // the log begins anew
  else
    held.end = std::max(held.end, at + size);
  return methods_of(real_of(file)).xWrite(real_of(file), piece, size, at);
}

int close_log(sqlite3_file* file) {
  const int failed = write_held(file);
  delete log_of(file).held;
  const int closed = methods_of(real_of(file)).xClose(real_of(file));
  return failed != SQLITE_OK ? failed : closed;
}

int truncate_log(sqlite3_file* file, sqlite3_int64 size) {
  if (const int failed = write_held(file); failed != SQLITE_OK) return failed;
  log_of(file).held->end = std::min(log_of(file).held->end, size);
  return methods_of(real_of(file)).xTruncate(real_of(file), size);
}

// Calls a method of the real file behind what is held.
template <auto method, class... Args>
int behind_held(sqlite3_file* file, Args... args) {
  if (const int failed = write_held(file); failed != SQLITE_OK) return failed;
  return (methods_of(real_of(file)).*method)(real_of(file), args...);
}

// Reads frames that are held out of memory: a read must not fail for want of room, since SQLite would go on with the
// transaction after some errors of a read, and what is held would be missing in it.
int read_log(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  const held_frames& held = *log_of(file).held;
  const auto end = held.begin + static_cast<sqlite3_int64>(held.size);
  if (held.size == 0 || at + size <= held.begin) return methods_of(real_of(file)).xRead(real_of(file), to, size, at);
  if (at < held.begin || at + size > end) return behind_held<&sqlite3_io_methods::xRead>(file, to, size, at);
  std::memcpy(to, held.bytes.get() + (at - held.begin), static_cast<std::size_t>(size));
  return SQLITE_OK;
}

// Calls a method that does not touch the bytes.
template <auto method, class... Args>
int passed(sqlite3_file* file, Args... args) {
  return (methods_of(real_of(file)).*method)(real_of(file), args...);
}

// Version 1, without shared memory and mappings, which a log has never.
constexpr sqlite3_io_methods log_methods{
    .iVersion = 1,
    .xClose = close_log,
    .xRead = read_log,
    .xWrite = write_piece,
    .xTruncate = truncate_log,
    .xSync = behind_held<&sqlite3_io_methods::xSync, int>,
    .xFileSize = behind_held<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = passed<&sqlite3_io_methods::xLock, int>,
    .xUnlock = passed<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = passed<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = behind_held<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = passed<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = passed<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* taken) {
  auto* real = static_cast<sqlite3_vfs*>(vfs->pAppData);
  if ((flags & SQLITE_OPEN_WAL) == 0) return real->xOpen(real, name, file, flags, taken);
  file->pMethods = nullptr;
  auto held = std::unique_ptr<held_frames>(new (std::nothrow) held_frames);
  if (!held || !held->bytes) return SQLITE_NOMEM;
  if (const int failed = real->xOpen(real, name, real_of(file), flags, taken); failed != SQLITE_OK) {
    if (real_of(file)->pMethods != nullptr) methods_of(real_of(file)).xClose(real_of(file));
    return failed;
  }
  log_of(file).held = held.release();
  file->pMethods = &log_methods;
  return SQLITE_OK;
}

// Calls a method of the default VFS, which must see itself.
template <auto method, class... Args>
auto of_real(sqlite3_vfs* vfs, Args... args) {
  auto* real = static_cast<sqlite3_vfs*>(vfs->pAppData);
  return (real->*method)(real, args...);
}

}  // namespace

const char* joined_log_vfs() {
  static const char* const registered = []() -> const char* {
    auto* const real = sqlite3_vfs_find(nullptr);
    if (real == nullptr) return nullptr;
    static sqlite3_vfs ours = *real;
    ours.zName = "mcpbx-joined-log";
    ours.pNext = nullptr;
    ours.szOsFile = real->szOsFile + static_cast<int>(sizeof(log_file));
    ours.pAppData = real;
    ours.xOpen = open_file;
    ours.xDelete = of_real<&sqlite3_vfs::xDelete, const char*, int>;
    ours.xAccess = of_real<&sqlite3_vfs::xAccess, const char*, int, int*>;
    ours.xFullPathname = of_real<&sqlite3_vfs::xFullPathname, const char*, int, char*>;
    return sqlite3_vfs_register(&ours, 0) == SQLITE_OK ? ours.zName : nullptr;
  }();
  return registered;
}

}  // namespace mcpbx::daemon::sqlite
