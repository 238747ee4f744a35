// A tool server's process as its supervisor sees it. The keeper implements it with real processes, tests with scripted
// ones.
#pragma once
#include "mcp/support/error.hpp"
#include "mcp/transport/transport.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::process {

/// The program to run. No shell is involved; the environment is complete as given (docs/guarantees.md, G36, G44).
struct process_spec {
  std::string name;                      ///< name of the server, for messages
  std::vector<std::string> argv;         ///< argv[0] is looked up in the PATH of `environment` unless it has a slash
  std::vector<std::string> environment;  ///< NAME=value; nothing else is inherited
  std::string directory;                 ///< working directory, absolute
  bool keep_orphans = false;             ///< processes that the server leaves behind stay ("orphans": "keep")
  bool may_call = false;                 ///< its processes may connect to mcpbx's socket; known to the daemon only
};

/// The end of a process.
struct process_exit {
  bool signalled = false;
  int value = 0;  ///< exit status, or the number of the signal
  /// Returns text such as "exit status 3" or "signal 9 (SIGKILL)".
  std::string text() const;
};

/// Events of a process. All come on the speaking thread, never from inside a call of server_process.
class process_events {
 public:
  virtual ~process_events() = default;
  /// Reports that the process runs. `connection` carries its stdin and stdout and has not been started.
  virtual void on_spawned(pid_t pid, std::unique_ptr<transports::transport> connection) = 0;
  /// Reports that the process could not be started; the text names the cause (no such program, not executable, …).
  virtual void on_spawn_failed(const error& why) = 0;
  /// Reports bytes of its stderr, cut anywhere.
  virtual void on_stderr(std::string_view bytes) = 0;
  /// Reports that the process ended and was reaped, after the rest of its stdout has been delivered.
  virtual void on_exited(process_exit how) = 0;
};

/// One process from spawn to exit. Destroying it kills its process group at once and drops all events.
class server_process {
 public:
  virtual ~server_process() = default;
  /// Sends a signal to its process group.
  virtual void signal(int number) = 0;
};

/// Interface that starts processes.
class process_launcher {
 public:
  virtual ~process_launcher() = default;
  /// Starts a process. Returns at once; events follow. `events` must outlive the returned object.
  virtual std::unique_ptr<server_process> launch(process_spec spec, process_events& events) = 0;
};

}  // namespace mcpbx::mcp::process
