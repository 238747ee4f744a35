// The options that stand before or after every verb, and the terminal.
#pragma once
#include "daemon/cli/base/option_words.hpp"
#include "daemon/cli/link/daemon_start.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <vector>

namespace mcpbx::cli {

/// Given to every verb.
struct context {
  link::place place;
  bool json = false;
  bool no_wait = false;  ///< do not wait for the tool servers of a daemon that this command starts
  terminals::terminal* screen = nullptr;
  std::vector<given_option> given = {};  ///< the options and operands that the verb got
};

}  // namespace mcpbx::cli
