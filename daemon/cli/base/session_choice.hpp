// The session and the tools of a question, by the words of a command.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {

/// Returns the last session of this terminal, else of this folder, without those that the daemon no longer has, or "".
std::string session_of_place(link::daemon_connection& link);
/// Notes that the session was used last at this terminal and in this folder. Ignores "".
void note_session(std::string_view session);

/// Returns a hint at the session whose id is nearest to `session` of a request's params, or that alone begins so; else
/// "".
std::string near_session(link::daemon_connection& link, std::string_view params);

/// Splits a list of patterns at its commas and drops empty ones.
std::vector<std::string> split_globs(std::string_view globs);

}  // namespace mcpbx::cli
