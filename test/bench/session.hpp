// One MCP conversation with a target: the tool server itself through pipes, the floor relay, or mcpbxd, on its socket
// or through `mcpbx mcp`.
#pragma once
#include "test/bench/channel.hpp"
#include "test/bench/line_stream.hpp"
#include "test/bench/process.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::bench {

enum class target : std::uint8_t { direct, floor, mcpbx };

struct session_options {
  std::string bin;             ///< the folder with all programs
  int servers = 1;             ///< tool servers behind mcpbxd
  int tools = 10;              ///< of each server
  bool modern_server = false;  ///< the tool servers speak 2026-07-28, otherwise 2025-11-25
  bool modern = false;         ///< so does this caller
  int remote = 0;              ///< port of a tool server over HTTP; 0: the server is reached through pipes
  int http = 0;                ///< the port at which mcpbxd serves /mcp without a token; 0: none
  std::string more = "";       ///< further members of mcpbxd's configuration, each followed by a comma
};

class session final : public channel {
 public:
  /// Starts the target, shakes hands and lists tools until all are there.
  session(target what, const session_options& options);
  /// Talks to the mcpbxd of `daemon`, which must outlive this session, through the stdio shim.
  session(const session& daemon, const session_options& options);

  void send(std::string_view message) override;
  void pump(const line_handler& f) override;
  const process& own() const override { return process_; }

  /// Milliseconds from the start to the complete list.
  double ready_ms() const noexcept { return ready_ms_; }
  double started_us() const noexcept { return start_us_; }
  const std::string& socket() const noexcept { return socket_; }

 private:
  static process launch(target what, const session_options& options, const scratch_folder& folder);
  void begin(int tools);
  void wait_for_input();

  scratch_folder folder_;
  std::string socket_;
  double start_us_;
  process process_;
  std::unique_ptr<line_stream> lines_;
  double ready_ms_ = 0;
};

/// Connects to a Unix socket, trying for 20 s.
int connect_unix(const std::string& path);

}  // namespace mcpbx::bench
