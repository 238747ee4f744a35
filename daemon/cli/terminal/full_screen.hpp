// A screen of its own at the terminal, and keys without Enter. Everything is as before at its end.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"

#include <signal.h>
#include <termios.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace mcpbx::cli::terminals {

/// Takes the whole terminal during its life. The destructor gives it back, also after SIGINT and SIGTERM, which
/// catch_interrupts() must have turned into the end of a wait().
class full_screen {
 public:
  /// Needs a terminal as standard output. Keys are read if standard input is one, too.
  explicit full_screen(terminal& screen);
  ~full_screen();
  full_screen(const full_screen&) = delete;
  full_screen& operator=(const full_screen&) = delete;

  void draw(const std::vector<styled>& lines) { screen_.draw_screen(lines); }

  enum class event : std::uint8_t { time_over, resized, key, interrupt };
  /// Waits until a key is pressed, the terminal has another size, or `at_most` is over.
  event wait(std::chrono::milliseconds at_most);
  /// Returns the key of the last event::key.
  char key() const noexcept { return key_; }

 private:
  terminal& screen_;
  bool reads_keys_ = false;
  termios before_{};
  sigset_t mask_{};  ///< before; during a wait it holds, so that no resize is missed between two
  char key_ = 0;
};

}  // namespace mcpbx::cli::terminals
