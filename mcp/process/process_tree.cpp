// Reads the process tree from /proc. With the kernel's `children` files the cost depends on our own tree only; without
// them, all processes are read.
#include "mcp/process/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mcpbx::mcp::process {
namespace {

std::string read_small_file(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  std::array<char, 4096> buffer;
  ssize_t n = 0;
  while ((n = ::read(fd, buffer.data(), buffer.size())) > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(fd);
  return text;
}

// Calls `f` with each name in a directory that is a number.
template <class F>
void for_each_number(const std::string& directory, F&& f) {
  const std::unique_ptr<DIR, int (*)(DIR*)> d(::opendir(directory.c_str()), ::closedir);
  if (!d) return;
  while (const dirent* e = ::readdir(d.get())) {
    const std::string_view name = e->d_name;
    pid_t value = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), value);
    if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size()) f(value, name);
  }
}

struct stat_line {
  char state = 0;
  pid_t parent = -1;
  std::uint64_t start = 0;
};

// Reads /proc/PID/stat (proc_pid_stat(5)). The command's name, in parentheses, may hold any character, so fields are
// counted from its end.
std::optional<stat_line> read_stat(pid_t pid) {
  const std::string text = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos || end_of_name + 4 >= text.size()) return std::nullopt;
  stat_line s;
  s.state = text[end_of_name + 2];
  std::from_chars(text.data() + end_of_name + 4, text.data() + text.size(), s.parent);
  auto at = end_of_name;
  for (int field = 0; field < 20 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at != std::string::npos) std::from_chars(text.data() + at + 1, text.data() + text.size(), s.start);
  return s;
}

bool have_children_files() {
  static const bool have = [] {
    const std::string self = std::to_string(::getpid());
    return ::access(("/proc/" + self + "/task/" + self + "/children").c_str(), R_OK) == 0;
  }();
  return have;
}

void append_children(pid_t parent, std::vector<process_node>& to) {
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for_each_number(tasks, [&](pid_t, std::string_view thread) {
    const std::string text = read_small_file(tasks + '/' + std::string(thread) + "/children");
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      pid_t child = 0;
      const auto parsed = std::from_chars(at, end, child);
      if (parsed.ec != std::errc{}) break;
      to.push_back({child, parent});
      at = parsed.ptr + 1;
    }
  });
}

std::unordered_multimap<pid_t, pid_t> all_children() {
  std::unordered_multimap<pid_t, pid_t> children;
  for_each_number("/proc", [&](pid_t pid, std::string_view) {
    if (const auto s = read_stat(pid)) children.emplace(s->parent, pid);
  });
  return children;
}

// Layout of the limit, from the top bit: one 0, ten bits of magic, one of keep, 22 of the keeper's pid (the kernel's
// maximum), 30 of the server.
constexpr rlim_t magic = 0x2c5;
constexpr int magic_shift = 53, keep_shift = 52, keeper_shift = 30;
constexpr rlim_t keeper_bits = (rlim_t{1} << 22) - 1, server_bits = (rlim_t{1} << 30) - 1;

}  // namespace

std::vector<process_node> processes_below(pid_t root) {
  std::vector<process_node> found;
  if (have_children_files()) {
    append_children(root, found);
    for (std::size_t i = 0; i < found.size(); ++i) append_children(found[i].pid, found);
    return found;
  }
  const auto children = all_children();
  auto append = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto c = first; c != last; ++c) found.push_back({c->second, parent});
  };
  append(root);
  for (std::size_t i = 0; i < found.size(); ++i) append(found[i].pid);
  return found;
}

pid_t parent_of(pid_t pid) {
  const auto s = read_stat(pid);
  return s ? s->parent : -1;
}

std::uint64_t start_of(pid_t pid) {
  const auto s = read_stat(pid);
  return s ? s->start : 0;
}

namespace {

// Each link costs two reads of /proc on the speaking thread. A process with a longer chain is not followed, and
// refused.
constexpr std::size_t longest_chain = 128;
constexpr int walks = 16;

// Returns true if `pid` belongs to another user. With hidepid, only processes of our own user can be read, and the
// keeper starts no others.
bool is_hidden(pid_t pid) {
  return ::kill(pid, 0) != 0 && errno == EPERM;
}

ancestry walk(pid_t pid, std::span<const pid_t> roots, const std::function<pid_t(pid_t)>& parent) {
  using enum ancestry::end;
  ancestry a;
  while (a.chain.size() < longest_chain) {
    if (std::ranges::find(roots, pid) != roots.end()) {
      a.leads_to = root;
      return a;
    }
    const pid_t above = parent(pid);
    // If the child still names `pid` as its parent, the number has not been given to another process meanwhile.
    const bool same = a.chain.empty() || parent(a.chain.back()) == pid;
    if (!same) return a;
    if (above <= 0) {
      a.leads_to = above == 0 || (!a.chain.empty() && is_hidden(pid)) ? elsewhere : unknown;
      return a;
    }
    a.chain.push_back(pid);
    pid = above;
  }
  return a;
}

}  // namespace

ancestry ancestry_of(pid_t pid, std::span<const pid_t> roots, const std::function<pid_t(pid_t)>& parent) {
  ancestry a;
  if (pid <= 0) return a;
  for (int i = 0; i < walks && a.leads_to == ancestry::end::unknown; ++i) {
    a = walk(pid, roots, parent);
    if (a.chain.empty() || a.chain.size() >= longest_chain) break;  // gone, a root, or too deep
  }
  return a;
}

bool has_ended(pid_t pid) {
  const auto s = read_stat(pid);
  return !s || s->state == 'Z' || s->state == 'X';
}

rlim_t to_limit(const server_mark& mark) {
  return magic << magic_shift | rlim_t{mark.keep} << keep_shift |
         (static_cast<rlim_t>(mark.keeper) & keeper_bits) << keeper_shift | (mark.server & server_bits);
}

std::optional<server_mark> from_limit(rlim_t value) {
  if (value >> magic_shift != magic) return std::nullopt;
  server_mark m;
  m.keep = (value >> keep_shift & 1) != 0;
  m.keeper = static_cast<pid_t>(value >> keeper_shift & keeper_bits);
  m.server = static_cast<std::uint32_t>(value & server_bits);
  return m;
}

std::optional<server_mark> mark_of(pid_t pid) {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_RTTIME, nullptr, &limit) != 0) return std::nullopt;
  return from_limit(limit.rlim_cur);
}

void mark_self(rlim_t value) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_RTTIME, &limit) != 0 || limit.rlim_max < value) return;
  limit.rlim_cur = value;
  ::setrlimit(RLIMIT_RTTIME, &limit);
}

std::size_t kill_living(const std::vector<pid_t>& pids) {
  std::size_t living = 0;
  for (pid_t pid : pids) {
    if (has_ended(pid)) continue;
    ++living;
    ::kill(pid, SIGKILL);
  }
  return living;
}

}  // namespace mcpbx::mcp::process
