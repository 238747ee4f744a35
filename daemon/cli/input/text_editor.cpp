// Runs the editor through a shell, as its variable may have options (git and others do the same).
#include "daemon/cli/input/text_editor.hpp"

#include "daemon/cli/input/input_files.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mcpbx::cli::input {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_in_path(std::string_view program) {
  const auto path = variable("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    const auto file = path.substr(at, end - at) + "/" + std::string(program);
    if (end > at && ::access(file.c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

// A file that only this user reads. The destructor removes it.
class private_text {
 public:
  explicit private_text(const std::string& folder) : path_(folder + "/mcpbx-XXXXXX.md") {
    constexpr int suffix = 3;
    fd_ = ::mkostemps(path_.data(), suffix, O_CLOEXEC);
  }
  ~private_text() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  private_text(const private_text&) = delete;
  private_text& operator=(const private_text&) = delete;
  int fd() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int fd_;
};

// Leaves signals of the keyboard to the child for as long as it runs.
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

// Becomes the editor. Does not return.
[[noreturn]] void become_editor(const char* line, const char* path) {
  for (const int one : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::signal(one, SIG_DFL);
  if (const int terminal_fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC); terminal_fd >= 0)
    for (const int fd : {0, 1, 2})
      if (::isatty(fd) == 0) ::dup2(terminal_fd, fd);
  ::execl("/bin/sh", "sh", "-c", line, "sh", path, nullptr);
  ::_exit(127);
}

}  // namespace

std::optional<std::string> editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"})
    if (auto command = variable(name); !command.empty()) return command;
  for (const char* program : {"editor", "nano", "vi"})
    if (is_in_path(program)) return program;
  return std::nullopt;
}

std::string no_editor_text() {
  return "no editor is known; set VISUAL or EDITOR, as in `export EDITOR=nano`";
}

result<void> edit_file(const std::string& command, const std::string& path) {
  const keyboard_left_to_child keyboard;
  const std::string line = command + " \"$1\"";
  const pid_t child = ::fork();
  if (child < 0)
    return fail(errc::unavailable, std::string("the editor could not be started: ") + std::strerror(errno));
  if (child == 0) become_editor(line.c_str(), path.c_str());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(errc::unavailable, "the editor was lost");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(errc::unavailable, "the editor `" + command + "` " +
                                     (WIFEXITED(status) ? "failed with status " + std::to_string(WEXITSTATUS(status))
                                                        : "was ended by signal " + std::to_string(WTERMSIG(status))));
}

result<std::string> text_of_editor(const std::string& begun) {
  const auto editor = editor_command();
  if (!editor) return fail(errc::config, "--editor: " + no_editor_text());
  const int terminal_fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal_fd < 0)
    return fail(errc::io,
                "--editor needs a terminal; write the question behind `ask`, or `-` to read it from standard input");
  ::close(terminal_fd);
  const auto folder = variable("TMPDIR");
  const private_text file(folder.empty() ? "/tmp" : folder);
  if (file.fd() < 0 || !terminals::write_all(file.fd(), begun))
    return fail(errc::io, "--editor: the file " + file.path() + " cannot be written; set TMPDIR to a folder of yours");
  if (const auto edited = edit_file(*editor, file.path()); !edited)
    return fail(errc::config, edited.error().message + ", so nothing was asked");
  auto text = read_file(file.path(), most_json, "--editor");
  while (text && (text->ends_with('\n') || text->ends_with('\r'))) text->pop_back();
  return text;
}

}  // namespace mcpbx::cli::input
