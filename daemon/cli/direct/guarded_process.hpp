// A program with pipes at its three streams, for the length of this command: it and all processes below it end with the
// object, or with this process.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace mcpbx::cli::direct {

class guarded_process {
 public:
  /// Starts the program, which is looked up as the daemon looks for it. The error names the cause.
  static result<guarded_process> start(const mcp::process::process_spec& spec);
  guarded_process(guarded_process&&) noexcept = default;
  guarded_process& operator=(guarded_process&&) = delete;
  /// Closes the program's stdin, gives it 300 ms, and then ends everything below it. Takes 2 s at most.
  ~guarded_process();

  int input() const noexcept { return input_.get(); }    ///< its stdin, non-blocking
  int output() const noexcept { return output_.get(); }  ///< its stdout, non-blocking
  int errors() const noexcept { return errors_.get(); }  ///< its stderr, non-blocking

  /// Returns how the program ended; nullopt: it runs after `at_most`.
  std::optional<mcp::process::process_exit> ended(std::chrono::milliseconds at_most);

 private:
  guarded_process() = default;
  pid_t guardian_ = -1;
  mcp::process::unique_fd input_, output_, errors_;
  mcp::process::unique_fd life_;    // the guardian ends all when this closes
  mcp::process::unique_fd report_;  // reports the end of the program
  std::optional<mcp::process::process_exit> end_;
};

}  // namespace mcpbx::cli::direct
