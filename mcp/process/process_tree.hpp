// The process tree as /proc shows it, and the mark by which a process belongs to a tool server. A process can leave its
// group and session, and its parent can die; the mark is inherited and cannot be lost by accident.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mcpbx::mcp::process {

/// A process and its parent, as numbers.
struct process_node {
  pid_t pid = -1;
  pid_t parent = -1;
};

/// Returns all processes below `root`, parents before their children, zombies included. The list is a snapshot and may
/// miss processes that fork or end meanwhile; to end all of them, call again until it is empty.
std::vector<process_node> processes_below(pid_t root);
/// Returns the parent, or -1 if there is no such process.
pid_t parent_of(pid_t pid);
/// Returns the start time in clock ticks since boot, or 0 if the process is gone. Tells apart two processes that had
/// the same number.
std::uint64_t start_of(pid_t pid);
/// The ancestors of a process and the place where they lead.
struct ancestry {
  enum class end : std::uint8_t { root, elsewhere, unknown };
  end leads_to = end::unknown;
  std::vector<pid_t> chain;  ///< the process and its ancestors, without the root that was met
};
/// Walks up from `pid` until one of `roots` or the end. Reads each link twice, since a number may be given away
/// meanwhile. `unknown`: a process has ended, the chain kept changing, or it is too long.
ancestry ancestry_of(pid_t pid, std::span<const pid_t> roots, const std::function<pid_t(pid_t)>& parent = parent_of);
/// Returns true if the process is gone, or has ended and waits to be reaped.
bool has_ended(pid_t pid);

/// The mark of one server's processes: a soft limit on the CPU time of real-time threads (RLIMIT_RTTIME, in
/// microseconds), thousands of years long and therefore without effect. It survives fork, exec, setsid and double
/// forks, and needs neither the server's environment nor a process in between.
struct server_mark {
  pid_t keeper = -1;         ///< the keeper that spawned it
  std::uint32_t server = 0;  ///< 30 bits
  bool keep = false;         ///< processes that the server leaves behind stay
  friend bool operator==(const server_mark&, const server_mark&) = default;
};
/// Encodes a mark as the limit's value, and decodes it; nullopt: not a mark.
rlim_t to_limit(const server_mark& mark);
std::optional<server_mark> from_limit(rlim_t value);
/// Returns the mark of a process, or nullopt if it has none or is gone.
std::optional<server_mark> mark_of(pid_t pid);
/// Marks the calling process. Async-signal-safe. Does nothing if the hard limit does not allow it.
void mark_self(rlim_t limit) noexcept;

/// The decision about a process when trees are ended.
enum class fate : std::uint8_t { none, end, stay };

/// Takes a snapshot of everything below `root` and returns the processes to end. A process with a mark of `keeper` gets
/// the fate that `decide(pid, mark)` returns; any other shares its parent's fate, or `otherwise` right below the root.
template <class F>
std::vector<pid_t> doomed_below(pid_t root, pid_t keeper, fate otherwise, F&& decide) {
  std::unordered_map<pid_t, fate> fates;
  std::vector<pid_t> doomed;
  for (const auto& node : processes_below(root)) {
    const auto mark = mark_of(node.pid);
    fate f = otherwise;
    if (mark && mark->keeper == keeper) {
      f = decide(node.pid, *mark);
    } else if (const auto parent = fates.find(node.parent); parent != fates.end()) {
      f = parent->second;
    }
    fates[node.pid] = f;
    if (f == fate::end) doomed.push_back(node.pid);
  }
  return doomed;
}

/// Sends SIGKILL to those of `pids` that are alive. Returns their number.
std::size_t kill_living(const std::vector<pid_t>& pids);

}  // namespace mcpbx::mcp::process
