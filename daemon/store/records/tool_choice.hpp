// Selection of the catalog's tools for a run, by its request, its profile and the servers' entries. Data only;
// daemon/policy decides by it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon::stored {

/// Naming of a server's tools in the catalog.
struct tool_naming {
  std::string prefix;                              ///< front of `prefix__tool`; "": unknown
  bool plain = false;                              ///< tools have their plain names where those are free
  std::map<std::string, std::string> rename = {};  ///< by the server's own names
  /// Catalog names, by the server's own, of tools whose names do not follow from the members above; with plain names,
  /// of all listed tools.
  std::map<std::string, std::string> named = {};
  bool operator==(const tool_naming&) const = default;
};

/// Terms of a server's tools in the configuration, as globs on the server's own names.
struct server_terms {
  std::string server;                             ///< configured name
  std::vector<std::string> allow, deny, approve;  ///< allow: empty for all; approve: tools that need approval
  tool_naming naming = {};
  bool operator==(const server_terms&) const = default;
};

/// Further restrictions of a run that was resumed after a restart, so that the stricter of two configurations holds.
struct kept_terms {
  std::vector<std::string> allow, deny;  ///< globs of its profile at present, as in tool_choice
  /// Servers at the run's start; others may offer it nothing. Null: unknown, the run is of an older mcpbx.
  std::shared_ptr<const std::vector<server_terms>> servers;
  /// Servers at present, without recorded names. Null: unknown.
  std::shared_ptr<const std::vector<server_terms>> servers_now = {};
};

/// Selection of tools for a run, with their names.
struct tool_choice {
  std::vector<std::string> only;   ///< wishes of the request, as globs on the names that it sees; empty: all
  std::vector<std::string> allow;  ///< tools of the profile, as globs on the catalog's names; empty: all
  std::vector<std::string> deny;   ///< tools that the profile withholds; wins over `allow`
  std::map<std::string, std::string, std::less<>> rename = {};  ///< the profile's names, by those of the catalog
  std::shared_ptr<const kept_terms> beside = {};                ///< further restrictions; null: none
};

}  // namespace mcpbx::daemon::stored
