// The server's side of an HTTP/1.1 connection: requests one after another, each answered as a whole or as a stream,
// with limits on size, time and silence (docs/guarantees.md, G43). Notices the end of the caller while an answer is
// being made. The user of this class makes the answers.
#pragma once
#include "mcp/http/server/request_parser.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http::servers {

struct server_limits {
  request_parser::limits size;
  milliseconds request{60'000};  ///< from the first byte of a request to its last
  milliseconds keep{120'000};    ///< between two requests
  milliseconds stall{30'000};    ///< longest time in which a caller takes no byte of a waiting answer
};

/// A complete answer. Content-Length, Date and Connection are added.
struct server_answer {
  int status = 200;
  std::vector<header> headers;
  std::string body;
};

/// Receiver of a connection's events. None comes from inside a call of the user, except on_left from close().
class server_events {
 public:
  virtual ~server_events() = default;
  /// The head of a request has come. If this returns an answer, it is sent, the body is not read, and the connection
  /// ends.
  virtual std::optional<server_answer> on_head(const request_head& head) = 0;
  /// A complete request has come. Answer it with answer(), or with begin(), send() … finish(), now or later.
  virtual void on_request(request_head head, shared_bytes body) = 0;
  /// A request is malformed or above a limit: `status` is 400, 408, 413, 431 or 503, `what` a clause. The returned
  /// answer is sent, and the connection ends.
  virtual server_answer on_fault(int status, std::string_view what) = 0;
  /// All bytes sent so far of a streamed answer have left.
  virtual void on_drained() = 0;
  /// The connection has ended: by the caller or behind its last answer (`why` is ""), or because the caller did not
  /// read in time, as `why` says. Comes once, as the last event.
  virtual void on_left(const std::string& why) = 0;
};

class server_connection {
 public:
  /// Takes ownership of a connected socket (TCP or Unix). `time` and `events` must outlive it.
  server_connection(const boost::asio::any_io_executor& executor, time_source& time, int fd, server_limits l,
                    server_events& events);
  /// Closes the connection without on_left.
  ~server_connection();
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  /// Begins to read.
  void start();
  /// Answers the present request with a complete answer.
  void answer(server_answer a);
  /// Answers the present request, and ends the connection behind it.
  void answer_last(server_answer a);
  /// Begins an answer whose body comes in parts, each sent as one chunk.
  void begin(int status, std::vector<header> headers);
  void send(std::string_view part);
  /// Sends a part that no other one follows soon: it is written in this turn, and on_drained comes only if the socket
  /// does not take all of it.
  void send_alone(std::string_view part);
  /// Ends that body; with `whole` false in a way that shows the caller that it is incomplete.
  void finish(bool whole = true);
  /// Returns the number of bytes that have not left yet.
  std::size_t unsent() const noexcept;
  /// Returns the number of bytes that the caller has taken in all.
  std::uint64_t taken() const noexcept;
  /// Returns true between two requests: nothing of the next one has come, and the last answer has left.
  bool resting() const noexcept;
  /// Closes at once and drops unsent bytes.
  void close();

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::http::servers
