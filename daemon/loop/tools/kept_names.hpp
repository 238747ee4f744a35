// The names under which a conversation has offered tools to its model: each means the same tool to its end, whatever
// the tool's server lists meanwhile. The model goes by the names that it has read.
#pragma once
#include "daemon/loop/tools/round_tools.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {

class kept_names {
 public:
  /// What names meant in the conversation before this run, or before a restart. Ahead of the first settle(); of one
  /// name what was told first holds.
  void restore(std::span<const record::meant_tool> tools);
  /// `tools` with the names that theirs had before; one whose name has meant another tool gets a new one. The very same
  /// object where that changes nothing.
  offered_ptr settle(offered_ptr tools);

 private:
  using tool = std::pair<std::string, std::string>;  // server, the server's own name
  void remember(const std::string& name, tool t);
  void remember(const offered_tools& tools);
  std::string free_name(const std::string& wanted, const tool& of, const offered_tools& tools) const;

  offered_ptr last_;
  // Of what was offered before last_; empty as long as nothing has changed and nothing was restored.
  std::map<std::string, tool, std::less<>> tools_;
  std::map<tool, std::string> names_;
};

}  // namespace mcpbx::daemon
