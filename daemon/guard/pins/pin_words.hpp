// Sentences about pinned definitions, for the status, the log, and callers whose call is refused.
#pragma once
#include "daemon/guard/pins/pins.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::pins::pin_words {

// Clauses with the reason why a tool is withheld.
std::string_view changed();
std::string_view added();
/// `why` is a sentence about the file of pins.
std::string unreadable(std::string_view why);
std::string unwritable(std::string_view why);

/// Advice about a file that cannot be read or understood.
std::string broken_file(const std::string& path, const error& why);

/// Notice that a server's tools have no plain names, because the owners cannot be read or stored; `why` is a sentence.
std::string names_unknown(std::string_view server, std::string_view why);

/// Returns one sentence about a server's tools that differ from their pins; "" if none does.
std::string notice(std::string_view server, pin_mode mode, const std::vector<compared_tool>& tools);
/// Returns such a sentence for pins that cannot be compared.
std::string notice(std::string_view server, pin_mode mode, std::string_view problem);

}  // namespace mcpbx::daemon::pins::pin_words
