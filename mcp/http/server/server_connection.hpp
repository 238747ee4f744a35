// One caller's HTTP/1.1 connection, from this side: requests one after another, each answered whole or as a stream, the
// limits on size, time and silence, and the caller's leaving, which is noticed while its answer is being made
// (docs/guarantees.md, G43). Its user decides what is served.
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

namespace mcpbx::http {

struct server_limits {
  request_parser::limits size;
  milliseconds request{60'000};  ///< from the first byte of a request to its last
  milliseconds keep{120'000};    ///< between two requests
  milliseconds stall{30'000};    ///< in which a caller takes something of what waits for it
};

/// A whole answer. Content-Length, Date and Connection are added.
struct server_answer {
  int status = 200;
  std::vector<header> headers;
  std::string body;
};

/// What a connection tells its user. Never from inside a call of the user's, but for on_left in close().
class server_events {
 public:
  virtual ~server_events() = default;
  /// The head of a request has come. An answer given here is sent instead of reading the body; the connection ends.
  virtual std::optional<server_answer> on_head(const request_head& head) = 0;
  /// A whole request. It is answered with answer(), or with begin(), send() … finish(), now or later.
  virtual void on_request(request_head head, shared_bytes body) = 0;
  /// This cannot be read as a request: 400, 408, 413, 431 or 503, and a clause. What is given is sent, and the
  /// connection ends.
  virtual server_answer on_fault(int status, std::string_view what) = 0;
  /// All that had been sent of an answer that goes on has left.
  virtual void on_drained() = 0;
  /// The connection is over: by the caller or by the end of what it asked for (`why` is ""), or by a limit on what it
  /// takes, which `why` names. Comes once; nothing comes after it.
  virtual void on_left(const std::string& why) = 0;
};

class server_connection {
 public:
  /// Takes ownership of a connected socket (TCP or Unix). `time` and `events` must outlive it.
  server_connection(const boost::asio::any_io_executor& executor, time_source& time, int fd, server_limits l,
                    server_events& events);
  /// As close(), without on_left.
  ~server_connection();
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  /// Begins to read.
  void start();
  /// Answers the present request whole.
  void answer(server_answer a);
  /// Answers it with a body that comes in parts, each of which leaves as one chunk.
  void begin(int status, std::vector<header> headers);
  void send(std::string_view part);
  /// Ends that body; with `whole` false so that the caller sees that it is cut.
  void finish(bool whole = true);
  /// Bytes that have not left yet.
  std::size_t unsent() const noexcept;
  /// Bytes that the caller has ever taken.
  std::uint64_t taken() const noexcept;
  /// Ends it at once, with what has not left.
  void close();

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::http
