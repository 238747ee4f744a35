// The verbs of `mcpbx`: those that are here, and the names of those that come later.
#pragma once
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <span>
#include <string_view>

namespace mcpbx::cli::verbs {

/// Every verb but `help`, in the order of `mcpbx --help`.
std::span<const verb> all_verbs();

struct later_verb {
  std::string_view name, what;
};
/// The verbs whose part of the daemon is not built yet, sorted by name.
std::span<const later_verb> later_verbs();

/// Says that `what` comes in a later version. Returns the exit status.
int not_yet(terminals::terminal& screen, std::string_view what);

}  // namespace mcpbx::cli::verbs
