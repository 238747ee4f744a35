// Makes, locks and removes private folders. All steps use descriptors of folders, so that no name can lead elsewhere.
#include "mcp/socket/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace mcpbx::mcp::socket {
namespace {

constexpr std::string_view name_start = "mcpbx-standalone-", name_pattern = "XXXXXX";
constexpr const char *socket_name = "mcpbx.sock", *lock_name = "mcpbx.sock.lock", *log_name = "mcpbxd.log";

process::unique_fd open_folder(int parent, const char* name) {
  return process::unique_fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool lock(int fd) {
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0;
}

bool is_own(int folder) {
  struct stat s{};
  return ::fstat(folder, &s) == 0 && s.st_uid == ::geteuid() && (s.st_mode & 077) == 0;
}

void empty(int folder) {
  for (const char* name : {socket_name, lock_name, log_name}) ::unlinkat(folder, name, 0);
}

// Returns true if `path` still names the folder that is open as `fd`.
bool is_there(const std::string& path, int fd) {
  struct stat by_name{}, by_fd{};
  return ::lstat(path.c_str(), &by_name) == 0 && ::fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
         by_name.st_ino == by_fd.st_ino;
}

void sweep(int parent, const char* name) {
  const process::unique_fd folder = open_folder(parent, name);
  if (folder.get() < 0 || !is_own(folder.get()) || !lock(folder.get())) return;
  // The maker is gone, but its daemon may still be ending.
  const process::unique_fd daemon(::openat(folder.get(), lock_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (daemon.get() < 0 ? errno != ENOENT : !lock(daemon.get())) return;
  empty(folder.get());
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace

result<private_folder> private_folder::make(const std::string& parent) {
  sweep_private_folders(parent);
  std::string path;
  // Another process's sweep may remove the folder before it is locked; make another one then.
  for (int attempt = 0; attempt < 16; ++attempt) {
    path = parent + "/" + std::string(name_start) + std::string(name_pattern);
    if (::mkdtemp(path.data()) == nullptr) break;
    process::unique_fd folder = open_folder(AT_FDCWD, path.c_str());
    if (folder.get() >= 0 && lock(folder.get()) && is_there(path, folder.get()))
      return private_folder(std::move(path), std::move(folder));
  }
  return fail(errc::io, "cannot make a folder for a private daemon in " + parent + ": " + std::strerror(errno));
}

private_folder::~private_folder() {
  if (!path_.empty()) remove_private_folder(path_);
}

std::string private_folder::socket() const {
  return path_ + "/" + socket_name;
}

std::string private_folder::log() const {
  return path_ + "/" + log_name;
}

void remove_private_folder(const std::string& path) {
  const process::unique_fd folder = open_folder(AT_FDCWD, path.c_str());
  if (folder.get() < 0 || !is_own(folder.get())) return;
  empty(folder.get());
  ::rmdir(path.c_str());
}

void sweep_private_folders(const std::string& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(parent.c_str()), ::closedir);
  if (!all) return;
  while (const dirent* entry = ::readdir(all.get())) {
    const std::string_view name(entry->d_name);
    if (name.starts_with(name_start) && name.size() == name_start.size() + name_pattern.size())
      sweep(::dirfd(all.get()), entry->d_name);
  }
}

}  // namespace mcpbx::mcp::socket
