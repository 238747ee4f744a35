// Asks at the terminal, and writes nothing where nobody can be asked.
#include "daemon/cli/base/write_consent.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/read_line.hpp"

namespace mcpbx::cli {

int agreed_to_write(context& c, bool yes) {
  if (yes) return done;
  if (!can_ask()) {
    c.screen->error("nothing is written without a yes, and there is no terminal to ask at: add --yes to write this");
    return usage;
  }
  catch_interrupts();
  if (ask_yes(*c.screen, "write this? [y/N] ")) return done;
  c.screen->err_line("nothing was written");
  return interrupted() ? interrupted_exit : no_answer;
}

}  // namespace mcpbx::cli
