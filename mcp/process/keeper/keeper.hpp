// The keeper: a small process that alone spawns, signals and reaps tool servers, and ends their whole tree when the
// daemon is gone, for whatever reason (docs/guarantees.md, G20 to G22). The daemon forks it first of all, before any
// thread or socket; it has its own session, is a subreaper, and holds no descriptor of ours but the control socket.
#pragma once
#include "mcp/process/keeper/lookup_process.hpp"
#include "mcp/process/program_lookup.hpp"
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/stream_transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mcpbx::mcp {

/// How a keeper starts servers, and how long it may take.
struct keeper_options {
  program_finder find = find_program;
  /// Looking for one server's program; then the start has failed. Other starts do not wait for it.
  std::chrono::milliseconds lookup_limit{10'000};
  /// A keeper that has said nothing about a start for this long hangs and is replaced, with all servers it has.
  std::chrono::milliseconds answer_limit{15'000};
  /// The soft limit on open files that servers start with; nullopt: that of the process that forks the first keeper.
  /// The daemon raises its own afterwards, and programs that use select() break where theirs is above 1,024.
  std::optional<rlim_t> server_descriptors = std::nullopt;
};

/// A forked keeper that no event loop watches yet.
struct keeper_handle {
  pid_t pid = -1;
  int control_fd = -1;
  keeper_options options;  ///< also for its replacements
};

/// Forks a keeper. Call it first thing in main; later calls (a replacement) are safe too, since the child only uses
/// what fork leaves usable. Makes the calling process a subreaper. Ignores SIGPIPE and restores SIGCHLD.
result<keeper_handle> fork_keeper(keeper_options options = {});

/// Whose a process is.
struct process_owner {
  enum class kind : std::uint8_t {
    stranger,  ///< none of ours
    ours,      ///< the keeper or below it or below this process
    unknown,   ///< it has ended, or cannot be told
  };
  kind type = kind::unknown;
  std::string server;     ///< of ours: the running server that it descends from; "": it cannot be told
  bool may_call = false;  ///< that server's process_spec says so
};

/// The daemon's end: launches processes through the keeper and replaces it when it dies.
class keeper final : public process_launcher {
 public:
  /// `on_lost` is called when the keeper died or hung: its processes have been swept (each got on_exited), a new keeper
  /// runs, and the servers can be restarted. `time` must outlive the keeper and all that it launched.
  keeper(boost::asio::any_io_executor executor, time_source& time, keeper_handle handle, line_framer::options framing,
         std::function<void()> on_lost);
  ~keeper() override;

  std::unique_ptr<server_process> launch(process_spec spec, process_events& events) override;
  /// The keeper's process; its descendants are our tool servers.
  pid_t pid() const noexcept;
  /// Whose a process is, from its ancestors: they cannot be forged, as its mark can.
  process_owner owner_of(pid_t pid) const;
  /// Whether the keeper has yet to report the start of a server, whose process may be at work already.
  bool is_starting() const;
  /// Closes the control socket, which ends every tool server, and waits for the keeper to be gone.
  void shut_down();

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::mcp
