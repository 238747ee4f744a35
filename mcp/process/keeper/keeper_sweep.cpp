// Ends the processes of a dead keeper. Only processes with the mark of that keeper are touched: the daemon may have
// other children.
#include "mcp/process/keeper/keeper_sweep.hpp"

#include "mcp/process/process_tree.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mcpbx::mcp::keepers {

bool reap_child(pid_t pid) {
  const pid_t got = ::waitpid(pid, nullptr, WNOHANG);
  return got == pid || (got < 0 && errno == ECHILD);
}

bool keeper_sweep::step() {
  // A keeper that only closed its socket would still hold its children.
  if (!keeper_gone_) {
    ::kill(keeper_, SIGKILL);
    keeper_gone_ = reap_child(keeper_);
  }
  const auto doomed =
      process::doomed_below(::getpid(), keeper_, process::fate::none, [&](pid_t pid, const process::server_mark& mark) {
        return mark.keep && std::ranges::find(leaders_, pid) == leaders_.end() ? process::fate::stay
                                                                               : process::fate::end;
      });
  process::kill_living(doomed);
  for (pid_t pid : doomed) reap_child(pid);
  // If marks cannot be set, servers still die with their keeper (PR_SET_PDEATHSIG) and are reaped here.
  std::erase_if(leaders_, [](pid_t pid) { return process::parent_of(pid) == ::getpid() && reap_child(pid); });
  // Two clean looks are needed: a process that forked during the first may have been missed.
  clean_looks_ = keeper_gone_ && doomed.empty() ? clean_looks_ + 1 : 0;
  return clean_looks_ >= 2;
}

std::vector<pid_t> keeper_sweep::strays() const {
  std::vector<pid_t> kept;
  for (const auto& node : process::processes_below(::getpid())) {
    if (node.parent != ::getpid()) continue;
    const auto mark = process::mark_of(node.pid);
    if (mark && mark->keeper == keeper_) kept.push_back(node.pid);
  }
  return kept;
}

}  // namespace mcpbx::mcp::keepers
