// Runs the editor through a shell, as its variable may have options (git and others do the same).
#include "daemon/cli/input/text_editor.hpp"

#include "daemon/cli/input/input_files.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace mcpbx::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
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

// Becomes the editor. Does not return.
[[noreturn]] void become_editor(const std::string& command, const std::string& path, int terminal_fd) {
  for (const int one : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::signal(one, SIG_DFL);
  for (const int fd : {0, 1, 2})
    if (::isatty(fd) == 0) ::dup2(terminal_fd, fd);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), "sh", path.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

result<std::string> text_of_editor(const std::string& begun) {
  std::string editor = variable("VISUAL");
  if (editor.empty()) editor = variable("EDITOR");
  if (editor.empty())
    return fail(errc::config, "--editor: no editor is named; set VISUAL or EDITOR, as in `export EDITOR=nano`");
  const int terminal_fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal_fd < 0)
    return fail(errc::io,
                "--editor needs a terminal; write the question behind `ask`, or `-` to read it from standard input");
  const auto folder = variable("TMPDIR");
  const private_text file(folder.empty() ? "/tmp" : folder);
  if (file.fd() < 0 || !write_all(file.fd(), begun)) {
    ::close(terminal_fd);
    return fail(errc::io, "--editor: the file " + file.path() + " cannot be written; set TMPDIR to a folder of yours");
  }
  // Ctrl-C at the terminal belongs to the editor.
  struct sigaction ignore{}, interrupt{}, quit{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &interrupt);
  ::sigaction(SIGQUIT, &ignore, &quit);
  const pid_t child = ::fork();
  if (child == 0) become_editor(editor + " \"$1\"", file.path(), terminal_fd);
  int status = 0;
  pid_t ended = -1;
  if (child > 0) do
      ended = ::waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGQUIT, &quit, nullptr);
  ::close(terminal_fd);
  if (ended < 0) return fail(errc::io, "--editor: the editor could not be started");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(errc::config,
                "the editor `" + editor + "` failed" +
                    (WIFEXITED(status) ? " with status " + std::to_string(WEXITSTATUS(status)) : std::string()) +
                    ", so nothing was asked");
  auto text = read_file(file.path(), most_json, "--editor");
  while (text && (text->ends_with('\n') || text->ends_with('\r'))) text->pop_back();
  return text;
}

}  // namespace mcpbx::cli
