// A child of the shell with the terminal of this process.
#include "daemon/cli/config/file_editor.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mcpbx::cli {
namespace {

std::string variable_or_nothing(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_in_path(std::string_view program) {
  const auto path = variable_or_nothing("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    const auto file = path.substr(at, end - at) + "/" + std::string(program);
    if (end > at && ::access(file.c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

/// Leaves signals of the keyboard to the child for as long as it runs.
class keyboard_left_to_child {
 public:
  keyboard_left_to_child() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~keyboard_left_to_child() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  keyboard_left_to_child(const keyboard_left_to_child&) = delete;
  keyboard_left_to_child& operator=(const keyboard_left_to_child&) = delete;

 private:
  struct sigaction interrupt_{}, quit_{};
};

}  // namespace

std::optional<std::string> editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"})
    if (auto command = variable_or_nothing(name); !command.empty()) return command;
  for (const char* program : {"editor", "nano", "vi"})
    if (is_in_path(program)) return program;
  return std::nullopt;
}

result<void> edit_file(const std::string& command, const std::string& path) {
  const keyboard_left_to_child keyboard;
  const std::string line = command + " \"$1\"";
  const pid_t child = ::fork();
  if (child < 0)
    return fail(errc::unavailable, std::string("the editor could not be started: ") + std::strerror(errno));
  if (child == 0) {
    for (const int one : {SIGINT, SIGQUIT, SIGPIPE}) ::signal(one, SIG_DFL);
    ::execl("/bin/sh", "sh", "-c", line.c_str(), "sh", path.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(errc::unavailable, "the editor was lost");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(errc::unavailable, "the editor `" + command + "` " +
                                     (WIFEXITED(status) ? "ended with status " + std::to_string(WEXITSTATUS(status))
                                                        : "was ended by signal " + std::to_string(WTERMSIG(status))));
}

}  // namespace mcpbx::cli
