// The CLI's end of the socket: a blocking JSON-RPC caller that hears notifications while it waits and notices Ctrl-C.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>

struct pollfd;

namespace mcpbx::cli {

/// A request's answer: exactly one of the two is present.
struct answer {
  raw_json result;
  raw_json error;  ///< the JSON-RPC error object
  int error_code() const;
  std::string error_message() const;
};

class connection {
 public:
  /// Takes over a connected socket.
  explicit connection(int fd);
  ~connection();
  connection(connection&& other) noexcept;
  connection& operator=(connection&&) = delete;

  using notification_handler = std::function<void(std::string_view method, const raw_json& params)>;
  /// Called once when the user interrupts during a call(); may send. The call goes on waiting for its answer, 3 s at
  /// most; a second interrupt ends it at once.
  using interrupt_handler = std::function<void(std::int64_t request)>;
  /// Called during a call() when all that has come was given out and nothing more is there to be read; it may wait for
  /// something else, and receive() meanwhile.
  using idle_handler = std::function<void()>;

  /// Sends a request and waits for its answer, however long that takes; notifications that come before go to
  /// `notified`, and `idle` is called before it waits. errc::unavailable when the daemon closes the connection,
  /// errc::cancelled after an interrupt without an answer.
  result<answer> call(std::string_view method, std::string_view params, const notification_handler& notified = {},
                      const interrupt_handler& interrupted = {}, const idle_handler& idle = {});
  /// Sends a request and does not wait: its answer is dropped. For use from inside a notification_handler.
  result<void> request(std::string_view method, std::string_view params);
  result<void> notify(std::string_view method, std::string_view params);
  int fd() const noexcept { return fd_; }

  /// For an idle_handler that waits: reads what fd() has, once it is readable, for call() to give out later. False when
  /// the daemon has closed the connection.
  bool receive();
  /// What receive() has read and call() has not given out.
  const std::deque<mcp::message>& received() const noexcept { return received_; }
  /// Bytes of that, about.
  std::size_t received_bytes() const noexcept { return received_bytes_; }

 private:
  result<void> send_line(std::string text);
  result<std::int64_t> send_request(std::string_view method, std::string_view params);
  /// Why the daemon has closed: its own words where it said them before its first message (it refuses a caller with an
  /// error that answers no request).
  error closed();
  bool readable() const;
  int fd_;
  std::int64_t next_ = 1;
  mcp::line_framer framer_;
  std::deque<mcp::message> received_;
  std::size_t received_bytes_ = 0;
  std::string opening_;  // the first bytes received, until there is a message
  bool any_message_ = false;
};

/// Whether SIGINT or SIGTERM came since the start; installs nothing by itself.
bool interrupted();
/// Waits until `fd` has one of `events` (as poll()), or its end; false once an interrupt has come, also just before the
/// wait.
bool wait_ready(int fd, short events);
/// The same for several: until one of them has one of its events, which are then in its `revents`.
bool wait_ready(std::span<pollfd> any);
/// Makes SIGINT and SIGTERM wake call() instead of ending the program.
void catch_interrupts();

/// The MCP handshake, for verbs that use MCP methods.
result<void> initialize(connection& c, std::string_view version);

}  // namespace mcpbx::cli
