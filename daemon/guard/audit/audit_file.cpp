// Appends to the audit's file and notices when it was rotated away.
#include "daemon/guard/audit/audit_file.hpp"

#include "daemon/guard/state_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace mcpbx::daemon::audit {
namespace {

std::unexpected<error> failed(const std::string& path, std::string_view what, std::string_view mend) {
  return fail(errc::io, "the audit's file " + path + " cannot be " + std::string(what) + ": " +
                            std::generic_category().message(errno) + "; " + std::string(mend));
}

}  // namespace

void audit_file::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

result<void> audit_file::open() {
  if (!path_) return std::unexpected(path_.error());
  struct stat there{}, ours{};
  if (fd_ >= 0 && ::stat(path_->c_str(), &there) == 0 && ::fstat(fd_, &ours) == 0 && there.st_ino == ours.st_ino &&
      there.st_dev == ours.st_dev)
    return {};
  close();  // the file was moved away, as by log rotation
  if (make_folder_)
    if (auto made = guard::make_folder_of(*path_); !made) return made;
  // O_NONBLOCK, so that a pipe of that name does not block.
  fd_ = ::open(path_->c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd_ < 0) return failed(*path_, "opened", "see that its folder is there and may be written to");
  if (::fstat(fd_, &ours) != 0 || !S_ISREG(ours.st_mode)) {
    close();
    return fail(errc::io, "the audit's file " + *path_ + " is not a regular file; name another one in \"audit\"");
  }
  char last = '\n';
  if (ours.st_size > 0 && ::pread(fd_, &last, 1, ours.st_size - 1) != 1) last = '\n';
  torn_ = last != '\n';
  return {};
}

result<void> audit_file::append(std::string_view lines) {
  if (auto opened = open(); !opened) return opened;
  std::string with_break;
  if (torn_) lines = with_break = "\n" + std::string(lines);
  while (!lines.empty()) {
    const ssize_t n = ::write(fd_, lines.data(), lines.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      auto why = failed(*path_, "written", "make room, or see what is wrong with the disk");
      close();  // opening it again checks the last line
      return why;
    }
    lines.remove_prefix(static_cast<std::size_t>(n));
  }
  torn_ = false;
  return {};
}

}  // namespace mcpbx::daemon::audit
