// One end of the control socket: sends and receives frames and the descriptors that travel with them, without blocking.
// Both processes use it; the waiting is done around it (Asio in the daemon, poll in the keeper).
#pragma once
#include "mcp/process/keeper/keeper_protocol.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::keepers {

class control_channel {
 public:
  /// Uses `fd` without owning it. It must be a non-blocking Unix stream socket.
  explicit control_channel(int fd = -1) : fd_(fd) {}
  control_channel(const control_channel&) = delete;
  control_channel& operator=(const control_channel&) = delete;
  /// Closes descriptors that were neither sent nor taken.
  ~control_channel() { close_descriptors(); }

  /// Queues a frame. `descriptors` travel with its first byte and are closed once they have left.
  void send(std::string frame, std::vector<int> descriptors = {});
  /// Writes as much as the socket takes. Returns false if the other side is gone.
  bool flush();
  bool wants_to_write() const noexcept { return !outbox_.empty(); }

  /// Reads what is available. Returns false if the other side is gone or sent a broken frame; frames read before can
  /// still be taken.
  bool receive();
  /// Returns the payload of the next whole frame, valid until the next call of this function or of receive().
  std::optional<std::string_view> next_frame() { return reader_.next(); }
  /// Returns the descriptors that came with the earliest frame that carried some. They may be fewer than were sent, if
  /// our process had no descriptor left.
  std::vector<int> take_descriptors();

 private:
  void close_descriptors();
  struct outgoing {
    std::string bytes;
    std::size_t sent = 0;
    std::vector<int> descriptors;
  };
  int fd_;
  std::deque<outgoing> outbox_;
  keeper_protocol::frame_reader reader_;
  std::deque<std::vector<int>> arrived_;
};

}  // namespace mcpbx::mcp::keepers
