// Decides which definitions of a list may be offered (docs/guarantees.md, G37). The catalog asks nobody and knows no
// file: the list that comes to it says what is withheld.
#pragma once
#include "mcp/client/catalog/catalog_builder.hpp"

#include <functional>
#include <string>

namespace mcpbx::mcp {

/// What was decided about one list of a server.
struct definition_decision {
  withheld_ptr withheld;         ///< null: everything may be offered
  std::string notice;            ///< for the status, one sentence about this server; "" when all is as it was approved
  tool_names_ptr prefixed = {};  ///< of a server with plain names, the tools whose name is another one's; null: none
};

class definition_gate {
 public:
  virtual ~definition_gate() = default;
  /// A server has this list of a kind now. `decided` is called on the speaking thread, perhaps from inside, once the
  /// list has been looked at, and again whenever that changes (somebody approves), until the server's next list of the
  /// kind takes its place.
  virtual void judge(const std::string& server, const feature_kind& kind, feature_list list,
                     std::function<void(definition_decision)> decided) = 0;
  /// From now on no server is starting for the first time: those that have not listed anything will not soon.
  virtual void settled() {}
};

}  // namespace mcpbx::mcp
