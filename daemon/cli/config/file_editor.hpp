// The person's own editor on a file.
#pragma once
#include "mcp/support/error.hpp"

#include <optional>
#include <string>

namespace mcpbx::cli {

/// Returns the command of the editor: $VISUAL, $EDITOR, else the first of `editor`, `nano` and `vi` that is in PATH;
/// nullopt: there is none.
std::optional<std::string> editor_command();

/// Runs the editor on the file and waits for its end; Ctrl-C belongs to it. The command is split by a shell, as it may
/// have options. errc::unavailable: it could not be started or did not end with 0.
result<void> edit_file(const std::string& command, const std::string& path);

}  // namespace mcpbx::cli
