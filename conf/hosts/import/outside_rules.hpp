// Reads the rules of a program outside of its servers' entries: lists of servers and tools that are off, allowed, or
// need a yes.
#pragma once
#include "conf/hosts/import/foreign_servers.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mcpbx::conf::imports {

/// One parsed file.
struct foreign_document {
  const foreign_file* file = nullptr;
  documents::node tree;
};

/// A rule about tools: of one server, or of all ("").
struct tool_rule {
  std::string server, tool;  ///< `tool` is a glob of the server's own names; "*": the server as a whole
};

struct outside_rules {
  std::vector<std::string> off;                  ///< servers
  std::optional<std::vector<std::string>> only;  ///< the servers that are on; no list: all
  std::vector<tool_rule> deny, ask;
  std::vector<documents::diagnostic> refused;  ///< rules that cannot be kept: every server is refused
};

/// Collects the rules of a program. `servers` are the names of its servers, which its patterns are compared with.
outside_rules read_outside_rules(const programs::program& from, std::span<const foreign_document> files,
                                 std::span<const foreign_document> beside, std::span<const std::string> servers);

/// Writes the rules into a taken entry, and refuses it if there are some that cannot be kept.
void apply_outside_rules(const outside_rules& rules, foreign_server& server);

}  // namespace mcpbx::conf::imports
