// The help of mcpbx-toolbox, for the program and for its manual page.
#pragma once
#include <string_view>

namespace mcpbx::toolbox {

inline constexpr std::string_view help =
    "mcpbx-toolbox [FOLDER...]\n"
    "\n"
    "A small MCP server on stdin and stdout: clock, time zones and arithmetic, and for the FOLDERs given, listing,\n"
    "reading and searching of files. Nothing outside of these folders is read, and no symbolic link is followed.\n"
    "\n"
    "  --help      show this\n"
    "  --version   show the version\n";

}  // namespace mcpbx::toolbox
