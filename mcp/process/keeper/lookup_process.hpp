// Finds a server's program in a process of its own. A look-up may block for ever (a dead network mount in PATH, or as
// cwd); then it blocks that process only, neither the keeper nor the starts of other servers.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <optional>
#include <string>

namespace mcpbx::mcp::keepers {

/// Function that returns the file to execute for a spec; see find_program.
using program_finder = result<std::string> (*)(const process::process_spec&);

class lookup_process {
 public:
  /// Forks the process. For the keeper only, which is single-threaded and reaps it. Fails with errc::io if there is no
  /// process or pipe for it.
  static result<lookup_process> begin(const process::process_spec& spec, program_finder find);
  /// Kills the process if it still runs.
  ~lookup_process();
  lookup_process(lookup_process&& other) noexcept;
  lookup_process& operator=(lookup_process&&) = delete;

  pid_t pid() const noexcept { return pid_; }
  /// Returns a descriptor that is readable when poll() may have an answer.
  int descriptor() const noexcept { return answer_.get(); }
  /// Returns the program or the reason why there is none; nullopt while the process still looks. Never blocks.
  std::optional<result<std::string>> poll();

 private:
  lookup_process(pid_t pid, int answer) : pid_(pid), answer_(answer) {}
  pid_t pid_;
  process::unique_fd answer_;
  std::string text_;
};

}  // namespace mcpbx::mcp::keepers
