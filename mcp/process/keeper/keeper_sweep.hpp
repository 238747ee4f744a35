// Ends the processes of a keeper that has died: they are the daemon's own children now.
#pragma once
#include <sys/types.h>

#include <utility>
#include <vector>

namespace mcpbx::mcp::keepers {

class keeper_sweep {
 public:
  /// Takes the servers' own processes as `leaders`: they end even if processes they leave behind stay. `gone`: the
  /// keeper itself has been reaped already.
  keeper_sweep(pid_t keeper, std::vector<pid_t> leaders, bool gone = false)
      : keeper_(keeper), leaders_(std::move(leaders)), keeper_gone_(gone) {}

  /// Kills and reaps the processes that exist now. Returns true once the keeper and everything below it is gone; until
  /// then, call it again soon.
  bool step();
  /// Returns processes that stay ("orphans": "keep") and are direct children now, so that they must be reaped one day.
  std::vector<pid_t> strays() const;

 private:
  pid_t keeper_;
  std::vector<pid_t> leaders_;
  bool keeper_gone_;
  int clean_looks_ = 0;
};

/// Reaps `pid` if it has ended. Returns true if it has, or if it is no child of this process.
bool reap_child(pid_t pid);

}  // namespace mcpbx::mcp::keepers
