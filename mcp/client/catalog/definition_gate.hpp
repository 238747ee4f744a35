// Interface that decides which definitions of a list may be offered (docs/guarantees.md, G37). The catalog itself only
// receives the decision with each list.
#pragma once
#include "mcp/client/catalog/catalog_builder.hpp"

#include <functional>
#include <string>

namespace mcpbx::mcp::catalogs {

/// The decision about one list of a server.
struct definition_decision {
  withheld_ptr withheld;         ///< null: everything may be offered
  std::string notice;            ///< for the status: one sentence about this server, "" if everything is as approved
  tool_names_ptr prefixed = {};  ///< for a server with plain names: tools whose plain name another tool has; null: none
};

class definition_gate {
 public:
  virtual ~definition_gate() = default;
  /// Judges a server's new list of a kind. Calls `decided` on the speaking thread, perhaps from inside, and again
  /// whenever the decision changes, until the server's next list of the kind.
  virtual void judge(const std::string& server, const protocol::feature_kind& kind, protocol::feature_list list,
                     std::function<void(definition_decision)> decided) = 0;
  /// Reports that no server is starting for the first time any more, so no first list is to be expected soon.
  virtual void settled() {}
};

}  // namespace mcpbx::mcp::catalogs
