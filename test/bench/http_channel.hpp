// An MCP conversation over Streamable HTTP on loopback: each request is a POST, over as many keep-alive connections as
// requests are open, answered as JSON. The same for the tool server itself and for mcpbxd's /mcp.
#pragma once
#include "test/bench/channel.hpp"

#include <poll.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::bench {

class http_channel final : public channel {
 public:
  /// Waits for the port, 20 s at most, shakes hands and lists the tools. `weighed` must outlive the channel.
  http_channel(int port, bool modern, const process& weighed);
  ~http_channel() override;

  void send(std::string_view message) override;
  void pump(const line_handler& f) override;
  const process& own() const override { return weighed_; }
  /// Waits until all messages have been answered.
  void settle();

 private:
  struct connection {
    int fd = -1;
    std::string out, in;
    std::size_t written = 0;
  };
  void write(connection& c);
  bool take(connection& c, const line_handler& f);

  int port_;
  const process& weighed_;
  std::vector<std::unique_ptr<connection>> busy_, free_;
  std::vector<pollfd> ready_;
  std::string session_id_;
};

/// Connects to a loopback port, trying for 20 s.
int connect_port(int port);
/// Returns a port that nobody uses now.
int free_port();

}  // namespace mcpbx::bench
