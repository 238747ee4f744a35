// Path resolution by openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, or step by step.
#include "daemon/toolbox/folders.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

namespace mcpbx::toolbox {
namespace {

/// Splits "a//b/./c/" into its parts. Returns nullopt if one of them is "..".
std::optional<std::vector<std::string>> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto part = path.substr(0, end);
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::size_t from) {
  std::string out;
  for (auto i = from; i < parts.size(); ++i) out += (out.empty() ? "" : "/") + parts[i];
  return out;
}

int open_stepwise(int folder, const std::string& relative, int flags) {
  const auto parts = parts_of(relative);
  if (!parts || relative.starts_with('/')) return -EXDEV;
  if (parts->empty()) {
    const int fd = ::openat(folder, ".", flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
  }
  descriptor at;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const int from = at ? at.get() : folder;
    const char* name = (*parts)[i].c_str();
    const bool last = i + 1 == parts->size();
    // Checks for a link before opening: for a link in place of a folder the kernel would report ENOTDIR.
    struct stat info{};
    if (::fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return -errno;
    if (S_ISLNK(info.st_mode)) return -ELOOP;
    const int fd = ::openat(from, name, (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -errno;
    at = descriptor(fd);
    // With O_PATH a link that was created just now would itself have been opened.
    if (last) return ::fstat(fd, &info) == 0 && S_ISLNK(info.st_mode) ? -ELOOP : at.release();
  }
  return -ENOENT;
}

/// Returns the rest of `path` below `root` (both absolute), or nullopt if it lies elsewhere.
std::optional<std::string> below(const std::vector<std::string>& path, std::string_view root) {
  const auto above = parts_of(root);
  if (!above || path.size() < above->size()) return std::nullopt;
  for (std::size_t i = 0; i < above->size(); ++i)
    if (path[i] != (*above)[i]) return std::nullopt;
  return joined(path, above->size());
}

std::string reason(int error_number, std::string_view names) {
  switch (error_number) {
    case ELOOP:
      return "is a symbolic link or lies behind one; links are not followed";
    case EXDEV:
      return "leads out of the folders that can be read (" + std::string(names) + ")";
    case ENOENT:
      return "does not exist";
    case ENOTDIR:
      return "has a part that is no folder";
    case EACCES:
      return "may not be read";
    case ENXIO:
      return "is no regular file";
    case ENAMETOOLONG:
      return "is too long";
    default:
      return std::string("cannot be opened: ") + ::strerrordesc_np(error_number);
  }
}

}  // namespace

descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int open_beneath(int folder, const std::string& relative, int flags, open_way way) {
  if (way == open_way::best) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const auto* name = relative.empty() ? "." : relative.c_str();
    const auto fd = ::syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    // Old sandboxes answer EPERM to unknown calls; stepwise resolution is equally strict.
    if (errno != ENOSYS && errno != EPERM) return -errno;
  }
  return open_stepwise(folder, relative, flags);
}

result<folders> folders::open(const std::vector<std::string>& paths) {
  folders out;
  for (const auto& path : paths) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
    if (!real)
      return fail(errc::invalid_argument,
                  "The folder \"" + redact::printable(path) + "\" cannot be used: " + ::strerrordesc_np(errno) + ".");
    descriptor fd(::open(real.get(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd)
      return fail(errc::invalid_argument, "\"" + redact::printable(path) + "\" is no folder that can be opened.");
    std::string given = path;
    if (!given.starts_with('/')) {
      const std::unique_ptr<char, void (*)(void*)> here(::getcwd(nullptr, 0), ::free);
      given = std::string(here ? here.get() : "") + "/" + path;
    }
    std::string shown = real.get();
    if (shown == "/") shown.clear();  // so that shown + "/" + relative is a path
    out.list_.push_back({std::move(given), std::move(shown), std::move(fd)});
  }
  return out;
}

std::string folders::names() const {
  std::string out;
  for (const auto& f : list_) out += (out.empty() ? "" : ", ") + redact::printable(f.path.empty() ? "/" : f.path);
  return out;
}

result<folders::place> folders::open_path(std::string_view path, int flags) const {
  const auto shown = "\"" + redact::printable(cut_utf8(path, 300)) + "\"";
  if (path.find('\0') != std::string_view::npos)
    return fail(errc::invalid_argument, "The path " + shown + " holds a NUL character, which no path can.");
  const auto parts = parts_of(path);
  if (!parts) return fail(errc::invalid_argument, "The path " + shown + " holds \"..\"; write the path without it.");
  int last_error = ENOENT;
  if (path.starts_with('/')) {
    bool inside = false;
    for (const auto& f : list_) {
      auto rest = below(*parts, f.path);
      if (!rest) rest = below(*parts, f.given);
      if (!rest) continue;
      inside = true;
      const int fd = open_beneath(f.fd.get(), *rest, flags);
      if (fd >= 0) return place{&f, *rest, descriptor(fd)};
      last_error = -fd;
      if (last_error != ENOENT) break;
    }
    if (!inside)
      return fail(errc::invalid_argument, shown + " lies outside the folders that can be read: " + names() + ".");
  } else {
    const auto relative = joined(*parts, 0);
    for (const auto& f : list_) {
      const int fd = open_beneath(f.fd.get(), relative, flags);
      if (fd >= 0) return place{&f, relative, descriptor(fd)};
      last_error = -fd;
      if (last_error != ENOENT) break;
    }
  }
  const auto where = last_error == ENOENT ? " in " + names() : std::string();
  return fail(last_error == ENOENT ? errc::not_found : errc::invalid_argument,
              shown + " " + reason(last_error, names()) + where + ".");
}

}  // namespace mcpbx::toolbox
