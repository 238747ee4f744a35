// The socket, the daemon that answers there, other daemons, and the unit.
#include "conf/places.hpp"
#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "daemon/cli/doctor/path_looks.hpp"
#include "daemon/cli/link/daemon_age.hpp"
#include "mcp/socket/peer_process.hpp"
#include "mcp/support/text.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace mcpbx::cli::doctor {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
constexpr milliseconds connect_limit{3'000}, answer_limit{3'000};

// Connects without waiting for a listener whose queue is full. Returns -1 with errno set; EAGAIN: the queue stays full.
int connect_in_time(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  const auto deadline = std::chrono::steady_clock::now() + connect_limit;
  for (;;) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
      return fd;
    }
    const int number = errno;
    ::close(fd);
    if (number != EAGAIN || std::chrono::steady_clock::now() >= deadline) {
      errno = number;
      return -1;
    }
    ::poll(nullptr, 0, 20);
  }
}

std::string text_of(const std::string& path, std::size_t most = 1u << 20) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  std::array<char, 16384> block;
  for (ssize_t n = 0; fd >= 0 && text.size() < most && (n = ::read(fd, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(n));
  if (fd >= 0) ::close(fd);
  return text;
}

socket_facts look_at_socket(const std::string& path, path_looks& looks) {
  socket_facts s;
  const auto seen = looks.at({path, fs::path(path).parent_path().string(), path + ".lock"});
  s.file = seen[0];
  s.folder = seen[1];
  s.folder.is = path_facts::kind::folder;
  s.lock = seen[2];
  const pid_t holder = holder_of_lock(s.lock, "FLOCK");
  s.lock_held = holder != 0;
  s.holder = std::max(holder, 0);
  return s;
}

std::string exe_of(const std::string& process) {
  std::array<char, 4096> buffer;
  const ssize_t n = ::readlink(("/proc/" + process + "/exe").c_str(), buffer.data(), buffer.size());
  std::string path(buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (path.ends_with(" (deleted)")) path.resize(path.size() - 10);
  return path;
}

bool is_daemon(const std::string& process) {
  return exe_of(process).ends_with("/mcpbxd");
}

pid_t parent_in(const std::string& process) {
  const std::string stat = text_of("/proc/" + process + "/stat", 4096);
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return 0;
  pid_t parent = 0;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

// Asks all that the judges want to know.
std::optional<daemon_facts> interview(link::daemon_connection& link) {
  daemon_facts d;
  const auto hello = ask(link, "mcpbx/hello", R"({"name":"mcpbx doctor"})", answer_limit);
  if (!hello) return std::nullopt;
  d.hello = *hello;
  d.status = ask(link, "mcpbx/status", "{}", answer_limit).value_or(json::raw_json());
  d.servers = ask(link, "mcpbx/servers", "{}", answer_limit).value_or(json::raw_json());
  const auto pid = json::find_member(d.hello, "pid").as_integer().value_or(-1);
  const auto there = link::variables_of(link::seen_process(link, pid));
  const auto news = link::what_is_new(d.hello, link::own_variables(), there.value_or(nullptr));
  d.news = news.text;
  d.reload_helps = news.reload_helps;
  return d;
}

}  // namespace

std::optional<json::raw_json> ask(link::daemon_connection& link, std::string_view method, std::string_view params,
                                  milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  const auto until_then = [&] {
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      pollfd one{link.fd(), POLLIN, 0};
      const int ready = left > 0 ? ::poll(&one, 1, static_cast<int>(left)) : 0;
      if (ready > 0 || link::interrupted()) return;
      if (ready < 0 && errno == EINTR) continue;
      ::shutdown(link.fd(), SHUT_RDWR);  // ends the call
      return;
    }
  };
  const auto got = link.call(method, params, {}, {}, until_then);
  if (!got || got->error) return std::nullopt;
  return got->result;
}

pid_t holder_of_lock(const path_facts& file, std::string_view kind) {
  if (file.state == path_facts::look::missing || file.inode == 0) return 0;
  const std::string all = text_of("/proc/locks"), end = ":" + std::to_string(file.inode) + " ",
                    word = " " + std::string(kind) + " ";
  for (std::size_t at = 0; at < all.size();) {
    const auto line = std::string_view(all).substr(at, all.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.contains(word) || !line.contains(end)) continue;
    const auto write = line.find(" WRITE ");
    if (write == std::string_view::npos) continue;
    auto rest = line.substr(write + 7);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    pid_t pid = -1;
    std::from_chars(rest.data(), rest.data() + rest.size(), pid);
    return pid > 0 ? pid : -1;
  }
  return 0;
}

std::vector<other_daemon> other_daemons(pid_t own) {
  std::vector<other_daemon> all;
  constexpr std::size_t most = 16;
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return all;
  while (const dirent* entry = ::readdir(processes)) {
    const std::string name = entry->d_name;
    if (all.size() >= most || name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    // Few processes are daemons, so their owner is asked last.
    struct stat s{};
    if (!is_daemon(name) || ::stat(("/proc/" + name).c_str(), &s) != 0 || s.st_uid != ::geteuid()) continue;
    const pid_t pid = static_cast<pid_t>(std::stol(name));
    // Another home folder has another configuration: its daemon has nothing to do with this one.
    if (const auto its = link::variables_of(pid); !its || (*its)("HOME") != link::own_variables()("HOME")) continue;
    // The keeper of a daemon is its child and has the same program.
    if (pid == own || is_daemon(std::to_string(parent_in(name)))) continue;
    other_daemon other{pid, ""};
    const std::string words = text_of("/proc/" + name + "/cmdline", 65536) + '\0';
    if (words.contains("--private-folder") || words.contains("--examine") || words.contains("--check-config")) continue;
    constexpr std::string_view option{"--socket\0", 9};
    if (const auto at = words.find(option); at != std::string::npos)
      other.socket = std::string(words.c_str() + at + option.size());
    all.push_back(std::move(other));
  }
  ::closedir(processes);
  std::ranges::sort(all, {}, &other_daemon::pid);
  return all;
}

unit_facts gather_unit(path_looks& looks) {
  unit_facts u;
  const auto env = conf::environment_for_places();
  std::vector<std::string> places;
  if (const auto home = env.filled("XDG_CONFIG_HOME"))
    places.push_back(*home + "/systemd/user");
  else if (const auto user = env.filled("HOME"))
    places.push_back(*user + "/.config/systemd/user");
  places.push_back("/etc/systemd/user");
  std::vector<std::string> paths;
  for (const auto& p : places)
    for (const char* wanted : {"/sockets.target.wants/mcpbx.socket", "/default.target.wants/mcpbx.service"})
      paths.push_back(p + wanted);
  const auto seen = looks.at(paths);
  for (const auto& p : seen)
    if (p.state != path_facts::look::missing) {
      u.enabled = true;
      u.name = fs::path(p.path).filename().string();
      break;
    }
  if (!u.enabled) return u;
  u.has_path = looks.at({places.front() + "/mcpbx.service.d"}).front().state != path_facts::look::missing;
  // is-active ends with a status other than 0 for a unit that is not active, so ask for the word.
  const auto told =
      output_of({"systemctl", "--user", "show", "--property=ActiveState", "--value", u.name}, milliseconds(3'000));
  if (told) u.active = std::string(trimmed(*told));
  return u;
}

daemon_seen gather_daemon(const wish& w, path_looks& looks) {
  daemon_seen seen;
  if (w.place.standalone) {
    auto made = link::connect(w.place, false);
    if (!made) {
      seen.socket.state = socket_facts::outcome::unusable;
      seen.socket.problem = made.error().message;
      return seen;
    }
    seen.link.emplace(std::move(*made));
    seen.socket.state = socket_facts::outcome::answers;
    seen.daemon = interview(seen.link->link);
    if (seen.daemon) seen.socket.file.path = json::member_text(seen.daemon->status, "socket");
    return seen;
  }
  const auto where = link::choose_socket(w.place);
  if (!where) {
    seen.socket.state = socket_facts::outcome::unusable;
    seen.socket.problem = where.error().message;
    return seen;
  }
  seen.socket = look_at_socket(where->path, looks);
  auto& s = seen.socket;
  using enum socket_facts::outcome;
  int fd = s.file.state == path_facts::look::slow ? (errno = EAGAIN, -1) : connect_in_time(where->path);
  if (fd < 0) {
    const int number = errno;
    s.problem = std::strerror(number);
    s.state = number == ENOENT || number == ENOTDIR ? none
              : number == ECONNREFUSED              ? refused
              : number == EAGAIN                    ? silent
              : number == EACCES || number == EPERM ? denied
                                                    : unusable;
    if (s.state == refused && s.file.is != path_facts::kind::socket) s.state = unusable;
    // A daemon that was started with other variables leaves a link.
    if (where->is_default && (s.state == none || s.state == refused))
      if (const auto other = link::connect_to(*where)) fd = *other;
    if (fd < 0) return seen;
  }
  s.state = answers;
  // With socket activation the peer is the service manager, which nobody should end.
  if (const auto peer = mcp::socket::peer_of(fd, false); s.holder <= 0 && is_daemon(std::to_string(peer.pid)))
    s.holder = peer.pid;
  seen.link.emplace(link::connected{link::daemon_connection(fd), {}});
  seen.daemon = interview(seen.link->link);
  if (!seen.daemon) {
    s.state = silent;
    seen.link.reset();
    return seen;
  }
  const auto pid = json::find_member(seen.daemon->hello, "pid").as_integer().value_or(-1);
  if (auto variables = link::variables_of(link::seen_process(seen.link->link, pid))) seen.variable = *variables;
  seen.daemon->others = other_daemons(static_cast<pid_t>(pid));
  return seen;
}

}  // namespace mcpbx::cli::doctor
