// A whole session, read from the daemon page by page.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/text/session_text.hpp"

#include <optional>
#include <string>

namespace mcpbx::cli {

/// Reads a session, with `redact` without the secrets that the daemon knows. On failure prints the reason, sets
/// `status` and returns nullopt.
std::optional<text::session_export> read_session(context& c, link::daemon_connection& link, const std::string& id,
                                                 bool redact, int& status);

}  // namespace mcpbx::cli
