// Asks at the terminal, and writes nothing where nobody can be asked.
#include "daemon/cli/base/write_consent.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/read_line.hpp"

namespace mcpbx::cli {

int agreed_to_write(context& c, bool yes) {
  if (yes) return terminals::done;
  if (!terminals::can_ask()) {
    c.screen->error("nothing is written without a yes, and there is no terminal to ask at: add --yes to write this");
    return terminals::usage;
  }
  link::catch_interrupts();
  if (terminals::ask_yes(*c.screen, "write this? [y/N] ")) return terminals::done;
  c.screen->err_line("nothing was written");
  return link::interrupted() ? terminals::interrupted_exit : terminals::no_answer;
}

}  // namespace mcpbx::cli
