// Who descends from whom, from /proc, and which tool server a process belongs to. Groups and sessions can be left, and
// a parent can die; a mark that every descendant inherits cannot be shaken off by accident.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mcpbx::mcp {

struct process_node {
  pid_t pid = -1;
  pid_t parent = -1;
};

/// Everything below `root`, parents before their children, zombies included. A snapshot: what forks or dies meanwhile
/// may be missing, so whoever wants all of it gone asks again until nothing is found.
std::vector<process_node> processes_below(pid_t root);
/// The parent, or -1 when there is no such process.
pid_t parent_of(pid_t pid);
/// The time of its start, in clock ticks since that of the system: two processes that had one number differ in it. 0:
/// it is gone.
std::uint64_t start_of(pid_t pid);
/// Where the ancestors of a process lead.
struct ancestry {
  enum class end : std::uint8_t { root, elsewhere, unknown };
  end leads_to = end::unknown;
  std::vector<pid_t> chain;  ///< the process and its ancestors, without the root that was met
};
/// Walks up from `pid` until one of `roots` or the end. Each link is read twice, so that a number that was given away
/// meanwhile leads nobody astray. unknown: a process has ended, the chain would not hold still, or it is too long.
ancestry ancestry_of(pid_t pid, std::span<const pid_t> roots, const std::function<pid_t(pid_t)>& parent = parent_of);
/// Whether it has ended and only waits to be reaped (or is gone altogether).
bool has_ended(pid_t pid);

/// The mark of one server's processes: an otherwise meaningless soft limit (RLIMIT_RTTIME, on the CPU time of real-time
/// threads, in microseconds: many thousand years). It passes through fork, exec, setsid and double forks, and needs
/// neither the server's environment nor a process in between.
struct server_mark {
  pid_t keeper = -1;         ///< who spawned it
  std::uint32_t server = 0;  ///< 30 bits
  bool keep = false;         ///< what the server leaves behind stays
  friend bool operator==(const server_mark&, const server_mark&) = default;
};
rlim_t to_limit(const server_mark& mark);
std::optional<server_mark> from_limit(rlim_t value);
/// The mark of a process, nullopt when it has none or is gone.
std::optional<server_mark> mark_of(pid_t pid);
/// Marks the calling process. Async-signal-safe. Does nothing where the hard limit does not allow it.
void mark_self(rlim_t limit) noexcept;

/// What becomes of a process when trees are ended.
enum class fate : std::uint8_t { none, end, stay };

/// Takes a snapshot of everything below `root` and returns what is to end. A process with a mark of `keeper` gets the
/// fate that `decide(pid, mark)` says; any other shares its parent's, or `otherwise` right below the root.
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

/// Sends SIGKILL to those of `pids` that live. Returns how many there were.
std::size_t kill_living(const std::vector<pid_t>& pids);

}  // namespace mcpbx::mcp
