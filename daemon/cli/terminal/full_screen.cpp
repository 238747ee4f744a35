// Sets the terminal's mode, and waits for keys and signals.
#include "daemon/cli/terminal/full_screen.hpp"

#include "daemon/cli/link/daemon_connection.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace mcpbx::cli::terminals {
namespace {

volatile sig_atomic_t resizes = 0;

extern "C" void on_resize(int) {
  resizes = 1;
}

}  // namespace

full_screen::full_screen(terminal& screen) : screen_(screen) {
  struct sigaction action{};
  action.sa_handler = on_resize;
  ::sigaction(SIGWINCH, &action, nullptr);
  sigset_t resize{};
  ::sigemptyset(&resize);
  ::sigaddset(&resize, SIGWINCH);
  ::sigprocmask(SIG_BLOCK, &resize, &mask_);
  reads_keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (reads_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;  // they would leave the terminal in this mode
    reads_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  screen_.open_screen();
}

full_screen::~full_screen() {
  screen_.close_screen();
  if (reads_keys_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  ::signal(SIGWINCH, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

full_screen::event full_screen::wait(std::chrono::milliseconds at_most) {
  std::array<pollfd, 1> keys{pollfd{reads_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
  if (!link::wait_ready_for(keys, at_most, &mask_)) return event::interrupt;
  if (resizes != 0) {
    resizes = 0;
    return event::resized;
  }
  if (keys[0].revents == 0) return event::time_over;
  const auto n = ::read(STDIN_FILENO, &key_, 1);
  if (n == 1) return event::key;
  if (n < 0 && errno == EINTR) return event::resized;
  reads_keys_ = false;  // the terminal has ended
  return event::interrupt;
}

}  // namespace mcpbx::cli::terminals
