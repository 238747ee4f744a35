// Keeps the names of tools stable in a conversation: a name that its model has read means the same tool until the end,
// even if servers change their lists.
#pragma once
#include "daemon/loop/tools/round_tools.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::tools {

/// The names of one run's tools.
class kept_names {
 public:
  /// Restores the tools behind the names of earlier runs, or of this run before a restart. Call it before the first
  /// settle(). The first tool of a name is kept.
  void restore(std::span<const stored::record::meant_tool> tools);
  /// Returns `tools` with the names that these tools had before. A tool whose name has meant another one gets a new
  /// name. Returns the same object if no name changes.
  offered_ptr settle(offered_ptr tools);

 private:
  using tool = std::pair<std::string, std::string>;  // server, the server's own name
  void remember(const std::string& name, tool t);
  void remember(const offered_tools& tools);
  std::string free_name(const std::string& wanted, const tool& of, const offered_tools& tools) const;

  offered_ptr last_;
  // Names offered before last_, in both directions; empty until an offer changes or names are restored.
  std::map<std::string, tool, std::less<>> tools_;
  std::map<tool, std::string> names_;
};

}  // namespace mcpbx::daemon::tools
