// The person's own editor, on a file or for a text.
#pragma once
#include "mcp/support/error.hpp"

#include <optional>
#include <string>

namespace mcpbx::cli::input {

/// Returns the command of the editor: $VISUAL, $EDITOR, else the first of `editor`, `nano` and `vi` that is in PATH;
/// nullopt: there is none.
std::optional<std::string> editor_command();

/// Returns the sentence for a person without an editor, with the command that names one.
std::string no_editor_text();

/// Runs the editor on the file, at the terminal even if a standard stream is a pipe, and waits for its end. A shell
/// splits the command, as it may have options. errc::unavailable: it did not start, or not end with 0.
result<void> edit_file(const std::string& command, const std::string& path);

/// Opens the editor with a private file that has the text `begun`. Returns the text when the editor has ended, at most
/// 16 MiB. Errors: config (there is no editor, or it failed), io (no terminal, or the file could not be used).
result<std::string> text_of_editor(const std::string& begun);

}  // namespace mcpbx::cli::input
