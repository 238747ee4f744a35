// The command at the end of each error, so that nobody has to search for the way on.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::cli::terminals {

/// Returns true if a sentence ends with a command in backticks, such as "…; `mcpbx servers` lists them". Words of
/// others in backticks do not count.
bool ends_with_command(std::string_view sentence);

/// Returns the sentence with `command` ("`mcpbx servers` lists them") at its end, unless it ends with one. Behind a
/// text of several lines the command is a line of its own.
std::string with_command(std::string sentence, std::string_view command);

/// Returns a sentence whose end strangers wrote with `command` at its end, whichever command they name.
std::string with_own_command(std::string foreign, std::string_view command);

/// Returns the sentence with a hint, such as " (did you mean …?)", in front of the command at its end.
std::string with_hint(std::string sentence, std::string_view hint);

/// Command for a run that nobody knows.
inline constexpr std::string_view runs_are_in = "`mcpbx sessions` lists the sessions with their runs";

/// Returns the command for an error of this exit status inside a verb that says nothing better.
std::string_view command_for_status(int status);

}  // namespace mcpbx::cli::terminals
