// What the daemon does about processes whose keeper has died: they are its own children now, and must end.
#pragma once
#include <sys/types.h>

#include <utility>
#include <vector>

namespace mcpbx::mcp {

class keeper_sweep {
 public:
  /// `leaders` are the servers' own processes, which end even when what they leave behind stays.
  /// `gone`: the keeper itself has been reaped already.
  keeper_sweep(pid_t keeper, std::vector<pid_t> leaders, bool gone = false)
      : keeper_(keeper), leaders_(std::move(leaders)), keeper_gone_(gone) {}

  /// Kills and reaps what is there now. True once the keeper and everything below it is gone; else call again soon.
  bool step();
  /// Processes that stay ("orphans": "keep") and are our direct children now, so that we must reap them one day.
  std::vector<pid_t> strays() const;

 private:
  pid_t keeper_;
  std::vector<pid_t> leaders_;
  bool keeper_gone_;
  int clean_looks_ = 0;
};

/// Whether `pid`, a child of ours, has ended; reaps it. True also for what is no child of ours.
bool reap_child(pid_t pid);

}  // namespace mcpbx::mcp
