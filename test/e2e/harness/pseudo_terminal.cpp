// Reads what a program writes to its terminal, and types.
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

namespace mcpbx::e2e {

pseudo_terminal::pseudo_terminal(const world& w, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{MCPBX}, variables = w.env;
  for (const auto& a : arguments) words.push_back(w.filled(a));
  variables.insert(variables.end(), {"MCPBX_SOCKET=" + w.socket(), "NO_COLOR=1", "TERM=xterm"});
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  const auto argv = pointers(words), envp = pointers(variables);
  pid_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
  REQUIRE(pid_ >= 0);
  if (pid_ != 0) return;
  if (::chdir(w.dir().c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

pseudo_terminal::~pseudo_terminal() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(master_);
}

// False at its end, which closes its side.
bool pseudo_terminal::pump() {
  pollfd one{master_, POLLIN, 0};
  REQUIRE(::poll(&one, 1, static_cast<int>(std::chrono::milliseconds(watchdog).count())) == 1);
  std::array<char, 4096> buffer{};
  const ssize_t n = ::read(master_, buffer.data(), buffer.size());
  if (n > 0) shown.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0;
}

void pseudo_terminal::read_until(std::string_view text) {
  while (!contains(shown, text)) REQUIRE_MESSAGE(pump(), shown);
}

void pseudo_terminal::read_on_until(std::string_view text) {
  std::size_t at = std::string::npos;
  while ((at = shown.find(text, waited_for_)) == std::string::npos) REQUIRE_MESSAGE(pump(), shown);
  waited_for_ = at + text.size();
}

void pseudo_terminal::type(std::string_view keys) {
  REQUIRE(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

void pseudo_terminal::resize(int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  REQUIRE(::ioctl(master_, TIOCSWINSZ, &size) == 0);
}

bool pseudo_terminal::is_plain() const {
  termios mode{};
  REQUIRE(::tcgetattr(master_, &mode) == 0);
  return (mode.c_lflag & ICANON) != 0 && (mode.c_lflag & ECHO) != 0;
}

int pseudo_terminal::wait() {
  while (pump()) {
  }
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace mcpbx::e2e
