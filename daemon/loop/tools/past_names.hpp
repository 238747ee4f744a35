// The names that the tools of today's catalog had under an earlier configuration: the rules of that time are about
// those.
#pragma once
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/client/catalog/catalog.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {

class past_names {
 public:
  /// As catalog_names. All are empty for a tool that had no name then.
  struct names {
    std::string name, prefixed, plain;
    catalog_names view() const { return {name, prefixed, plain}; }
  };

  /// No names are known.
  past_names() = default;
  /// Names the tools of `now`, offered or withheld, as `then` says. Which server had a plain name that several wanted
  /// is not known: a tool counts as having had its own only if it has it now as well.
  past_names(const mcp::catalog& now, std::span<const server_terms> then);

  /// The names of the tool that `server` knows as `own`. Null where nobody noted how that server's tools were named.
  const names* find(const std::string& server, const std::string& own) const;

 private:
  std::map<std::pair<std::string, std::string>, names> names_;
};

}  // namespace mcpbx::daemon
