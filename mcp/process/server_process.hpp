// A tool server's process as its supervisor sees it. The keeper provides real ones; tests provide scripted ones.
#pragma once
#include "mcp/support/error.hpp"
#include "mcp/transport/transport.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

/// The program to run. No shell takes part; the environment is complete as given (docs/guarantees.md, G36, G44).
struct process_spec {
  std::string name;                      ///< the server, for texts
  std::vector<std::string> argv;         ///< argv[0] is looked up in the PATH of `environment` unless it has a slash
  std::vector<std::string> environment;  ///< NAME=value, nothing else is inherited
  std::string directory;                 ///< working directory, absolute
  bool keep_orphans = false;             ///< what the server leaves behind stays ("orphans": "keep")
  bool may_call = false;                 ///< its processes may connect to our socket; known to the daemon's end only
};

/// How a process ended.
struct process_exit {
  bool signalled = false;
  int value = 0;  ///< exit status, or the signal
  /// "exit status 3", "signal 9 (SIGKILL)".
  std::string text() const;
};

/// What a process tells its supervisor. All on the speaking thread, never from inside a call of server_process.
class process_events {
 public:
  virtual ~process_events() = default;
  /// It runs; `connection` carries its stdin and stdout and has not been started.
  virtual void on_spawned(pid_t pid, std::unique_ptr<transport> connection) = 0;
  /// It could not be started; the text names the cause (no such program, not executable, no such directory, …).
  virtual void on_spawn_failed(const error& why) = 0;
  /// Bytes of its stderr, cut anywhere.
  virtual void on_stderr(std::string_view bytes) = 0;
  /// It ended and was reaped. What its stdout still held has been delivered before.
  virtual void on_exited(process_exit how) = 0;
};

/// One process from spawn to exit. Destroying it kills its group at once and drops all events.
class server_process {
 public:
  virtual ~server_process() = default;
  /// Sends a signal to its process group.
  virtual void signal(int number) = 0;
};

/// Starts processes.
class process_launcher {
 public:
  virtual ~process_launcher() = default;
  /// Returns at once; events follow. `events` must outlive the returned object.
  virtual std::unique_ptr<server_process> launch(process_spec spec, process_events& events) = 0;
};

}  // namespace mcpbx::mcp
