// Files of units and orders to systemctl(1).
#include "daemon/cli/service/user_service.hpp"

#include "conf/places.hpp"
#include "daemon/cli/service/unit_files.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/process/unique_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;

namespace mcpbx::cli::service {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds command_limit{20};
constexpr std::size_t most_output = 64u << 10;
constexpr std::size_t most_unit = 64u << 10;

// Reads what a command prints until it closes the pipe. Returns false after the limit of time.
bool read_all(int fd, std::string& out) {
  const auto deadline = std::chrono::steady_clock::now() + command_limit;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd one{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) == 0) return false;
    const auto n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (out.size() < most_output) out.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

command_end run_program(const std::string& program, std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const mcp::process::unique_fd ours(ends[0]);
  mcp::process::unique_fd theirs(ends[1]);
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 2);
  pid_t pid = -1;
  const int wrong = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (wrong != 0) return {};
  theirs = mcp::process::unique_fd();
  command_end end;
  if (!read_all(ours.get(), end.out)) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1));
}

// Reads blocks of NAME=VALUE lines with an empty line between them, as `systemctl show` prints them, by their Id.
std::map<std::string, std::map<std::string, std::string>> read_properties(std::string_view text) {
  std::map<std::string, std::map<std::string, std::string>> units;
  std::map<std::string, std::string> one;
  const auto finish = [&] {
    if (one.empty()) return;
    const auto name = one["Id"];
    units[name] = std::exchange(one, {});
  };
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = line.find('=');
    if (equals == line.npos)
      finish();
    else
      one[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  finish();
  return units;
}

/// Returns true for a text that cannot stand in a line of a unit: systemd ends lines at a carriage return and at NUL,
/// too.
bool breaks_lines(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

error no_manager() {
  return {errc::unavailable,
          "there is no systemd that runs services for you here (`systemctl --user` does not work); mcpbx needs none: "
          "every command starts the daemon when it is needed"};
}

}  // namespace

systemctl real_systemctl() {
  return [](const std::vector<std::string>& words) -> command_end {
    for (const char* program : {"/usr/bin/systemctl", "/bin/systemctl"}) {
      if (::access(program, X_OK) != 0) continue;
      auto all = words;
      all.insert(all.begin(), "--user");
      return run_program(program, std::move(all));
    }
    return {};
  };
}

std::string daemon_program() {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  return (self.has_parent_path() ? self.parent_path() : fs::path("/usr/bin")) / "mcpbxd";
}

user_service::user_service(conf::environment env, systemctl run, std::string program, std::vector<std::string> packaged)
    : env_(std::move(env)), run_(std::move(run)), program_(std::move(program)), packaged_(std::move(packaged)) {}

result<std::string> user_service::folder() const {
  const auto config = env_.filled("XDG_CONFIG_HOME");
  const auto home = env_.filled("HOME");
  if (config && config->starts_with('/')) return *config + "/systemd/user";
  if (!home || !home->starts_with('/')) return fail(errc::config, "HOME is not set, so there is no folder for units");
  return *home + "/.config/systemd/user";
}

// Units of a package start /usr/bin/mcpbxd; another program needs units of its own.
bool user_service::has_packaged_units() const {
  if (program_ != "/usr/bin/mcpbxd") return false;
  return std::ranges::any_of(packaged_, [](const std::string& where) {
    std::error_code ignored;
    return fs::exists(where + "/mcpbx.socket", ignored);
  });
}

service_state user_service::state() const {
  service_state s;
  const auto got = run_({"show", "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,FragmentPath",
                         "mcpbx.socket", "mcpbx.service"});
  if (got.status != 0) return s;
  s.manager = true;
  auto units = read_properties(got.out);
  auto& socket = units["mcpbx.socket"];
  auto& service = units["mcpbx.service"];
  if (socket["LoadState"] == "loaded") {
    s.socket_enabled = socket["UnitFileState"];
    s.file = socket["FragmentPath"];
  }
  s.socket = socket["ActiveState"];
  s.service = service["ActiveState"];
  if (service["MainPID"] != "0") s.pid = service["MainPID"];
  return s;
}

result<void> user_service::order(const std::vector<std::string>& words) const {
  const auto end = run_(words);
  if (end.status == 0) return {};
  std::string command = "systemctl --user";
  for (const auto& w : words) command += " " + w;
  const auto said = last_line(end.out);
  return fail(errc::io, "`" + command + "` failed" + (said.empty() ? "" : ": " + said) +
                            "; `journalctl --user -u mcpbx.service` may tell more");
}

result<std::vector<std::string>> user_service::enable() const {
  if (!state().manager) return std::unexpected(no_manager());
  const auto where = folder();
  if (!where) return std::unexpected(where.error());
  if (breaks_lines(program_))
    return fail(errc::config, "the path of mcpbxd has a line break in it, which no unit can hold: move the program");
  std::vector<unit_file> files;
  if (!has_packaged_units())
    for (auto& unit : user_units(program_)) files.push_back({unit.name, std::string(written_mark) + unit.text});
  if (const auto path = env_.filled("PATH"); path && !breaks_lines(*path)) files.push_back(path_drop_in(*path));
  // First look, so that nothing is half written where a file is not ours.
  std::vector<unit_file> changed;
  for (auto& f : files) {
    const auto before = files::read_whole_file(*where + "/" + f.name, most_unit);
    if (!before) return std::unexpected(before.error());
    if (*before && !(*before)->starts_with(written_mark))
      return fail(errc::io, *where + "/" + f.name +
                                " is not from mcpbx, so it is left alone: move it away, or write "
                                "`systemctl --user enable --now mcpbx.socket` to use it");
    if (!*before || **before != f.text) changed.push_back(std::move(f));
  }
  std::vector<std::string> written;
  for (const auto& f : changed) {
    const auto path = *where + "/" + f.name;
    if (const auto made = files::make_folder_of(path); !made) return std::unexpected(made.error());
    if (const auto done = files::replace_whole_file(path, f.text, {.mode = 0644}); !done)
      return std::unexpected(done.error());
    written.push_back(path);
  }
  if (const auto done = order({"daemon-reload"}); !done) return std::unexpected(done.error());
  // After too many starts that failed systemd refuses further ones until it is told so. It is an error where nothing is
  // to be forgotten.
  (void)run_({"reset-failed", "mcpbx.socket", "mcpbx.service"});
  if (const auto done = order({"enable", "--now", "mcpbx.socket"}); !done) return std::unexpected(done.error());
  return written;
}

result<std::vector<std::string>> user_service::disable() const {
  if (!state().manager) return std::unexpected(no_manager());
  const auto where = folder();
  if (!where) return std::unexpected(where.error());
  if (!state().socket_enabled.empty())
    if (const auto done = order({"disable", "--now", "mcpbx.socket", "mcpbx.service"}); !done)
      return std::unexpected(done.error());
  std::vector<std::string> removed;
  for (const std::string_view name : {"mcpbx.socket", "mcpbx.service", "mcpbx.service.d/path.conf"}) {
    const auto path = *where + "/" + std::string(name);
    const auto text = files::read_whole_file(path, most_unit);
    if (!text || !*text || !(*text)->starts_with(written_mark)) continue;
    if (const auto gone = files::remove_whole_file(path); !gone) return std::unexpected(gone.error());
    removed.push_back(path);
  }
  std::error_code ignored;
  fs::remove(*where + "/mcpbx.service.d", ignored);  // only if it is empty
  if (const auto done = order({"daemon-reload"}); !done) return std::unexpected(done.error());
  return removed;
}

}  // namespace mcpbx::cli::service
