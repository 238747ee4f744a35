// Opening and listing of files, and detection of binary content.
#include "daemon/toolbox/files.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mcpbx::toolbox {

std::string_view kind_name(mode_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "folder";
  if (S_ISLNK(mode)) return "link";
  if (S_ISFIFO(mode)) return "pipe";
  if (S_ISSOCK(mode)) return "socket";
  return "device";
}

result<std::vector<entry>> entries_of(descriptor folder) {
  const int fd = folder.get();
  DIR* stream = ::fdopendir(fd);
  if (!stream) return fail(errc::io, std::string("The folder cannot be read: ") + ::strerrordesc_np(errno) + ".");
  folder.release();  // the stream owns the descriptor now
  std::vector<entry> out;
  while (const dirent* d = ::readdir(stream)) {
    const std::string_view name(d->d_name);
    if (name == "." || name == "..") continue;
    struct stat info{};
    if (::fstatat(fd, d->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed meanwhile
    out.push_back({std::string(name), info.st_mode, info.st_size});
  }
  ::closedir(stream);
  std::ranges::sort(out, {}, &entry::name);
  return out;
}

result<folders::place> open_regular(const folders& files, std::string_view path) {
  auto place = files.open_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!place) return place;
  struct stat info{};
  if (::fstat(place->fd.get(), &info) != 0)
    return fail(errc::io, "\"" + redact::printable(path) + "\" cannot be looked at: " + ::strerrordesc_np(errno) + ".");
  if (S_ISREG(info.st_mode)) return place;
  return fail(errc::invalid_argument, "\"" + redact::printable(path) + "\" is a " +
                                          std::string(kind_name(info.st_mode)) + ", not a file" +
                                          (S_ISDIR(info.st_mode) ? "; list_files shows what it holds." : "."));
}

bool is_binary(std::string_view beginning) {
  if (beginning.find('\0') != std::string_view::npos) return true;
  // A few invalid bytes suggest an old encoding; many suggest binary content.
  std::size_t invalid = 0;
  for (auto rest = beginning; !rest.empty();) {
    const auto valid = valid_utf8_prefix(rest);
    if (valid >= rest.size()) break;
    ++invalid;
    rest.remove_prefix(valid + 1);
  }
  return invalid * 10 > beginning.size() + 20;
}

}  // namespace mcpbx::toolbox
