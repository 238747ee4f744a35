// One MCP conversation with a target: the tool server itself through pipes, the floor relay, or mcpbxd, on its socket
// or through `mcpbx mcp`.
#pragma once
#include "test/bench/line_stream.hpp"
#include "test/bench/process.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::bench {

enum class target : std::uint8_t { direct, floor, mcpbx };

struct session_options {
  std::string bin;        ///< the folder with all programs
  int servers = 1;        ///< tool servers behind mcpbxd
  int tools = 10;         ///< of each server
  std::string more = "";  ///< further members of mcpbxd's configuration, each followed by a comma
};

class session {
 public:
  /// Starts the target, shakes hands and lists tools until all are there.
  session(target what, const session_options& options);
  /// Talks to the mcpbxd of `daemon`, which must outlive this session, through the stdio shim.
  session(const session& daemon, const session_options& options);

  /// Milliseconds from the start to the complete list.
  double ready_ms() const noexcept { return ready_ms_; }
  const std::string& tool() const noexcept { return tool_; }  ///< the name of an echo tool
  const std::string& socket() const noexcept { return socket_; }
  const process& own() const noexcept { return process_; }
  line_stream& lines() noexcept { return *lines_; }
  long next_id() noexcept { return ++last_id_; }

  /// Sends one request and waits for its answer, 60 s at most.
  std::string request(std::string_view method, std::string_view params);
  /// The whole list, page by page; the number of tools.
  int list_tools();
  /// Waits for input and reads it; lines go to `f`. Gives up after 60 s of silence.
  template <class F>
  void pump(F&& f) {
    wait_for_input();
    if (!lines_->fill(f) || !lines_->flush()) give_up("the target closed the connection");
  }

 private:
  static process launch(target what, const session_options& options, const scratch_folder& folder);
  void begin(int tools);
  void wait_for_input();

  scratch_folder folder_;
  std::string socket_;
  double start_us_;
  process process_;
  std::unique_ptr<line_stream> lines_;
  std::string tool_;
  double ready_ms_ = 0;
  long last_id_ = 0;
};

/// Connects to a Unix socket, trying for 20 s.
int connect_unix(const std::string& path);

}  // namespace mcpbx::bench
