// Names that a running daemon knows, for the completion of a shell.
#pragma once
#include "daemon/cli/completion/word_completion.hpp"
#include "daemon/cli/link/daemon_start.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::cli::completion {

/// Asks the daemon at the socket of `p` for names of this kind that begin with `begun`. Starts none. Ends the process
/// with `_exit(0)` after 300 ms, since a person waits: nothing may have been written yet.
std::vector<candidate> live_names(const link::place& p, name_kind kind, std::string_view begun);

}  // namespace mcpbx::cli::completion
