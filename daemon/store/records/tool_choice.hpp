// Which tools of the catalog a run may use: what its request, its profile and the servers' entries say. Data only;
// daemon/policy decides by it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon {

/// The way in which the catalog names the tools of a server.
struct tool_naming {
  std::string prefix;                              ///< of `prefix__tool`; "": not known
  bool plain = false;                              ///< tools have their plain names where those are free
  std::map<std::string, std::string> rename = {};  ///< by the server's own names
  /// The catalog's names, by the server's own, of those tools whose names do not follow from the above alone; where
  /// names are plain, of all that were listed.
  std::map<std::string, std::string> named = {};
  bool operator==(const tool_naming&) const = default;
};

/// What the configuration says of the tools of a server: globs on the server's own names of them.
struct server_terms {
  std::string server;                             ///< configured name
  std::vector<std::string> allow, deny, approve;  ///< allow: empty for all; approve: those that need an approval
  tool_naming naming = {};
  bool operator==(const server_terms&) const = default;
};

/// What a run that goes on after a restart is kept to beside its own choice, so that the stricter of two
/// configurations holds.
struct kept_terms {
  std::vector<std::string> allow, deny;  ///< of its profile as it is now, as in tool_choice
  /// The servers when the run began, of which others offer it nothing. Null: not known, of an older mcpbx.
  std::shared_ptr<const std::vector<server_terms>> servers;
  /// The same of now, without names that were noted. Null: not known.
  std::shared_ptr<const std::vector<server_terms>> servers_now = {};
};

/// Which tools of the catalog a run may use, and under which names.
struct tool_choice {
  std::vector<std::string> only;   ///< what the request asks for, globs on the names it sees; empty: all
  std::vector<std::string> allow;  ///< what the profile offers, globs on the catalog's names; empty: all
  std::vector<std::string> deny;   ///< what it does not offer; wins
  std::map<std::string, std::string, std::less<>> rename = {};  ///< the profile's names, by those of the catalog
  std::shared_ptr<const kept_terms> beside = {};                ///< what holds beside all this; null: nothing
};

}  // namespace mcpbx::daemon
