// The keeper: a small process that alone spawns, signals and reaps tool servers, and ends their whole trees when the
// daemon is gone, for whatever reason (docs/guarantees.md, G20 to G22). The daemon forks it first of all, before any
// thread or socket. The keeper has its own session, is a subreaper, and holds no descriptor of ours but the control
// socket and stderr.
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

namespace mcpbx::mcp::keepers {

/// Settings by which a keeper starts servers, and its time limits.
struct keeper_options {
  program_finder find = process::find_program;
  /// Limit for finding one server's program; beyond it the start has failed. Other starts do not wait for it.
  std::chrono::milliseconds lookup_limit{10'000};
  /// Limit for the keeper's answer about a start. Beyond it the keeper counts as hanging and is replaced, with all its
  /// servers.
  std::chrono::milliseconds answer_limit{15'000};
  /// Soft limit on open files that servers start with; nullopt: the one of the process that forks the first keeper. The
  /// daemon raises its own later, and programs that use select() break where the limit is above 1,024.
  std::optional<rlim_t> server_descriptors = std::nullopt;
};

/// A forked keeper that no event loop watches yet.
struct keeper_handle {
  pid_t pid = -1;
  int control_fd = -1;
  keeper_options options;  ///< also used for its replacements
};

/// Forks a keeper and makes the calling process a subreaper that ignores SIGPIPE. Call it first thing in main; a later
/// call, for a replacement, is safe: the child uses only what is usable after fork. Fails with errc::io.
result<keeper_handle> fork_keeper(keeper_options options = {});

/// The tool server that a process belongs to, if any.
struct process_owner {
  enum class kind : std::uint8_t {
    stranger,  ///< no process of ours
    ours,      ///< the keeper, a process below it or a process below this one
    unknown,   ///< it has ended, or cannot be identified
  };
  kind type = kind::unknown;
  std::string server;     ///< for `ours`: the running server that it descends from; "" if it cannot be found
  bool may_call = false;  ///< its process_spec allows connections to mcpbx
};

/// The daemon's end of the keeper: launches processes through it and replaces it when it dies.
class keeper final : public process::process_launcher {
 public:
  /// Calls `on_lost` after a keeper died or hung: all its processes have been ended (each got on_exited), a new keeper
  /// runs, and servers can be restarted. `time` must outlive the keeper and everything that it launched.
  keeper(boost::asio::any_io_executor executor, time_source& time, keeper_handle handle,
         rpc::line_framer::options framing, std::function<void()> on_lost);
  ~keeper() override;

  std::unique_ptr<process::server_process> launch(process::process_spec spec, process::process_events& events) override;
  /// Returns the keeper's process id; its descendants are our tool servers.
  pid_t pid() const noexcept;
  /// Returns the owner of a process, found by its ancestors: unlike the mark, they cannot be forged.
  process_owner owner_of(pid_t pid) const;
  /// Returns true while the keeper has yet to report the start of a server, whose process may run already.
  bool is_starting() const;
  /// Closes the control socket, which ends every tool server, and waits until the keeper is gone.
  void shut_down();

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::mcp::keepers
