// The protocol between the daemon and its keeper: small frames over a stream socket, which may also hold an environment
// of a megabyte. Both ends are the same program, so there are no versions, and numbers are in host order.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mcpbx::mcp::keepers::keeper_protocol {

/// Number of one spawn of one server; never used twice.
using server_number = std::uint64_t;

// Daemon to keeper.
struct spawn {
  server_number server = 0;
  process::process_spec spec;
};
struct send_signal {
  server_number server = 0;
  int number = 0;
};
using request = std::variant<spawn, send_signal>;

// Keeper to daemon.
struct spawned {  ///< comes with three descriptors: our ends of stdin, stdout, stderr
  server_number server = 0;
  pid_t pid = -1;
};
struct spawn_failed {
  server_number server = 0;
  error why;
};
struct exited {
  server_number server = 0;
  process::process_exit how;
};
using notice = std::variant<spawned, spawn_failed, exited>;

/// Bound on a payload; both sides refuse larger ones.
inline constexpr std::size_t max_frame_bytes = 4u << 20;

/// Returns a whole frame: the payload's length and the payload.
std::string encode(const request& r);
std::string encode(const notice& n);
/// Decodes the payload of one frame. Returns nullopt if it is malformed.
std::optional<request> decode_request(std::string_view payload);
std::optional<notice> decode_notice(std::string_view payload);

/// Cuts a byte stream into payloads.
class frame_reader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns the next whole payload, valid until the next call of next() or feed(); nullopt while more bytes are
  /// needed.
  std::optional<std::string_view> next();
  /// Returns true once the peer announced a frame over max_frame_bytes; nothing can be read from then on.
  bool broken() const noexcept { return broken_; }

 private:
  std::string buffer_;
  std::size_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace mcpbx::mcp::keepers::keeper_protocol
