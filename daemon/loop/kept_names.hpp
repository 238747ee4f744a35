// The names under which a run has offered tools to its model: each means the same tool to the end of the run, whatever
// its server lists meanwhile. The model goes by the names that it has read.
#pragma once
#include "daemon/loop/round_tools.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {

class kept_names {
 public:
  /// `tools` with the names that theirs had before; one whose name has meant another tool gets a new one. The very same
  /// object where that changes nothing.
  offered_ptr settle(offered_ptr tools);

 private:
  using tool = std::pair<std::string, std::string>;  // server, the server's own name
  void remember(const offered_tools& tools);
  std::string free_name(const std::string& wanted, const tool& of, const offered_tools& tools) const;

  offered_ptr last_;
  // Of what was offered before last_; empty as long as nothing has changed.
  std::map<std::string, tool, std::less<>> tools_;
  std::map<tool, std::string> names_;
};

}  // namespace mcpbx::daemon
