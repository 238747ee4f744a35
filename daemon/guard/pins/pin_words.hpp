// What is said about pinned definitions: in the status, in the log, and to whom a call is refused. Pure.
#pragma once
#include "daemon/guard/pins/pins.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::pin_words {

// Clauses that say why a tool is withheld.
std::string_view changed();
std::string_view added();
/// `why`: a sentence about the file of pins.
std::string unreadable(std::string_view why);
std::string unwritable(std::string_view why);

/// The file cannot be read or understood: what to do about it.
std::string broken_file(const std::string& path, const error& why);

/// The tools of a server have no plain names, because who has which cannot be read or kept; `why`: a sentence.
std::string names_unknown(std::string_view server, std::string_view why);

/// One sentence about the tools of a server that are not as they were pinned; "" when all are.
std::string notice(std::string_view server, pin_mode mode, const std::vector<compared_tool>& tools);
/// The same when nothing can be compared.
std::string notice(std::string_view server, pin_mode mode, std::string_view problem);

}  // namespace mcpbx::daemon::pin_words
