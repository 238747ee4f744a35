// A text that the person writes in an editor of their own.
#pragma once
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::cli {

/// Opens the editor that $VISUAL or $EDITOR names, at the terminal even if standard input is a pipe, with a private
/// file that has the text `begun`. Returns the text when the editor has ended, at most 16 MiB. Errors: config (no
/// editor is named, or it failed), io (no terminal, or the file could not be used).
result<std::string> text_of_editor(const std::string& begun);

}  // namespace mcpbx::cli
