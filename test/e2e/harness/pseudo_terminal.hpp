// A command of the CLI at a pseudo-terminal, and somebody who types.
#pragma once
#include "test/e2e/harness/harness.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::e2e {

class pseudo_terminal {
 public:
  pseudo_terminal(const world& w, const std::vector<std::string>& arguments);
  ~pseudo_terminal();
  pseudo_terminal(const pseudo_terminal&) = delete;
  pseudo_terminal& operator=(const pseudo_terminal&) = delete;

  /// Waits until it shows this; fails the test when it ends before.
  void read_until(std::string_view text);
  /// Waits until it shows this behind what the latest call has waited for.
  void read_on_until(std::string_view text);
  void type(std::string_view keys);
  /// Reads on to its end and gives the exit status.
  int wait();

  pid_t pid() const { return pid_; }
  /// Gives it another size, and the signal of that.
  void resize(int columns, int rows);
  /// Returns true if keys are shown and come line by line, as a shell wants it.
  bool is_plain() const;

  std::string shown;  ///< all so far, with what was typed, as a terminal echoes it

 private:
  bool pump();
  pid_t pid_ = -1;
  int master_ = -1;
  std::size_t waited_for_ = 0;  // end of what read_on_until() has found in `shown`
};

}  // namespace mcpbx::e2e
