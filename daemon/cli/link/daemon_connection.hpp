// The CLI's end of the socket: a blocking JSON-RPC client that takes notifications while it waits, and handles Ctrl-C.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>

struct pollfd;

namespace mcpbx::cli::link {

/// Answer to a request. Exactly one of the two is present.
struct answer {
  json::raw_json result;
  json::raw_json error;  ///< the JSON-RPC error object
  int error_code() const;
  std::string error_message() const;
};

class daemon_connection {
 public:
  /// Takes over a connected socket.
  explicit daemon_connection(int fd);
  ~daemon_connection();
  daemon_connection(daemon_connection&& other) noexcept;
  daemon_connection& operator=(daemon_connection&&) = delete;

  /// Takes a request of the daemon; answer it with respond(), now or later.
  using request_handler = std::function<void(const mcp::rpc::message& request)>;
  using notification_handler = std::function<void(std::string_view method, const json::raw_json& params)>;
  /// Called once at the first interrupt during a call(), or between the call before and this one; it may send. The call
  /// then waits for its answer for at most 3 s; a second interrupt ends it at once.
  using interrupt_handler = std::function<void(std::int64_t request)>;
  /// Called during a call() when all received messages were handled and none is ready. It may wait for other events,
  /// and receive() meanwhile.
  using idle_handler = std::function<void()>;

  /// Sends a request and waits for its answer without a limit. Notifications before it go to `notified`; `idle` is
  /// called before each wait. errc::unavailable: the daemon closed the connection; errc::cancelled: an interrupt.
  result<answer> call(std::string_view method, std::string_view params, const notification_handler& notified = {},
                      const interrupt_handler& interrupted = {}, const idle_handler& idle = {});
  /// Takes requests of the daemon during call(); without this they are ignored.
  void on_request(request_handler f) { requested_ = std::move(f); }
  /// Answers a request of the daemon with a result object.
  result<void> respond(const mcp::rpc::rpc_id& id, const json::raw_json& result);
  /// Sends a request without waiting; its answer is dropped. For use inside a notification_handler.
  result<void> request(std::string_view method, std::string_view params);
  result<void> notify(std::string_view method, std::string_view params);
  int fd() const noexcept { return fd_; }

  /// Reads from a readable fd() inside an idle_handler; call() handles the messages later. Returns false if the daemon
  /// has closed the connection.
  bool receive();
  /// Returns the messages that receive() has read and call() has not handled yet.
  const std::deque<mcp::rpc::message>& received() const noexcept { return received_; }
  /// Returns the approximate size of those messages in bytes.
  std::size_t received_bytes() const noexcept { return received_bytes_; }

 private:
  result<void> send_line(std::string text);
  result<std::int64_t> send_request(std::string_view method, std::string_view params);
  /// Returns the reason why the daemon closed the connection. A daemon that refuses a caller sends an error that
  /// answers no request; its words are used.
  error closed();
  bool readable() const;
  int fd_;
  std::int64_t next_ = 1;
  mcp::rpc::line_framer framer_;
  std::deque<mcp::rpc::message> received_;
  std::size_t received_bytes_ = 0;
  std::string opening_;  // the first bytes received, until there is a message
  bool any_message_ = false;
  bool cut_ = false;  // an interrupt ended the sending of a message in its middle, so that nothing can follow
  request_handler requested_;
};

/// Forgets the last SIGINT, which ended a question at the terminal and nothing else. Returns false, and forgets
/// nothing, if another signal came or none.
bool forget_interrupt();
/// Returns true if a signal of catch_interrupts() came since the start. Installs no handler by itself.
bool interrupted();
/// Waits until `fd` has one of `events` (as for poll()) or its end. Returns false after an interrupt, even one before
/// the wait.
bool wait_ready(int fd, short events);
/// Waits until one of `any` has one of its events, and sets its `revents`. Returns as the other overload.
bool wait_ready(std::span<pollfd> any);
/// Waits likewise, but also ends when `at_most` is over or another signal came: then no `revents` is set. Returns false
/// after an interrupt. `mask`, if given, is the mask of signals during the wait.
bool wait_ready_for(std::span<pollfd> any, std::chrono::milliseconds at_most, const sigset_t* mask = nullptr);
/// Makes SIGINT, SIGTERM, SIGHUP and SIGQUIT wake call() instead of ending the program, so that a terminal is left as
/// it was. SIGHUP and SIGQUIT stay ignored if they were (`nohup`).
void catch_interrupts();

/// Does the MCP handshake, for verbs that use MCP methods.
/// `capabilities`: the client's.
result<void> initialize(daemon_connection& c, std::string_view version, std::string_view capabilities = "{}");

}  // namespace mcpbx::cli::link
