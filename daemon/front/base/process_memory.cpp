// Reading of /proc, whose files are made in memory, so the main thread waits for no disk.
#include "daemon/front/base/process_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::front {
namespace {

constexpr std::size_t most_processes = 64;

/// Returns the first 4 KiB of a file, or "" if it cannot be read.
std::string beginning_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 4096> text{};
  const ssize_t n = ::read(fd, text.data(), text.size());
  ::close(fd);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid) + "/";
}

/// Adds the processes that the main thread of `pid` started.
void add_children(pid_t pid, std::vector<pid_t>& to) {
  const std::string list = beginning_of(folder_of(pid) + "task/" + std::to_string(pid) + "/children");
  for (const char *p = list.data(), *const end = p + list.size(); p != end && to.size() < most_processes;) {
    pid_t child = 0;
    const auto read = std::from_chars(p, end, child);
    if (read.ec != std::errc{}) return;
    to.push_back(child);
    for (p = read.ptr; p != end && *p == ' ';) ++p;
  }
}

}  // namespace

std::int64_t resident_bytes(pid_t pid) {
  // The second number of statm: pages in memory.
  const std::string line = beginning_of(folder_of(pid) + "statm");
  const auto blank = line.find(' ');
  if (blank == std::string::npos) return -1;
  std::int64_t pages = 0;
  std::from_chars(line.data() + blank + 1, line.data() + line.size(), pages);
  return pages * ::sysconf(_SC_PAGESIZE);
}

std::int64_t resident_bytes_of_tree(pid_t root) {
  std::int64_t sum = resident_bytes(root);
  if (sum < 0) return sum;
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i) add_children(tree[i], tree);
  for (std::size_t i = 1; i < tree.size(); ++i)
    if (const auto bytes = resident_bytes(tree[i]); bytes > 0) sum += bytes;
  return sum;
}

}  // namespace mcpbx::daemon::front
