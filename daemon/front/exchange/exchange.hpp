// One HTTP request and its answer, for handlers: independent of the connection, which may close at any moment.
#pragma once
#include "mcp/http/server/request_parser.hpp"
#include "mcp/http/server/server_connection.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::front {
struct door_context;
}  // namespace mcpbx::daemon::front

namespace mcpbx::daemon::routes {

/// A request that waits for its answer. Any function but door() may be called at any time; a late call does nothing.
/// The caller may leave inside answer(), begin(), send() and finish(): check open() behind them before using the door.
class exchange final : public std::enable_shared_from_this<exchange> {
 public:
  /// Receiver of an answer: the caller's connection.
  class outlet {
   public:
    /// Sends the whole answer. The request is done and the outlet drops the exchange. `fault`: counts as a faulty
    /// request.
    virtual void answer(http::servers::server_answer a, bool fault) = 0;
    virtual void begin(int status, std::vector<http::header> headers) = 0;
    virtual void send(std::string_view part) = 0;
    /// Sends a part that no other one follows soon, and need not report that it has left.
    virtual void send_alone(std::string_view part) { send(part); }
    /// Ends a body that was sent in parts. The request is done and the outlet drops the exchange.
    virtual void finish(bool whole) = 0;
    virtual std::size_t unsent() const = 0;

   protected:
    ~outlet() = default;
  };

  /// Ongoing work on an answer. The exchange keeps it until the answer is complete or the caller has left.
  class work {
   public:
    virtual ~work() = default;
    /// Called when all sent parts of the answer have left. The exchange may be answered, and the caller may leave, in
    /// here.
    virtual void on_drained() {}
    /// Called at most once, when the caller has left; open() is false. Never called after a complete answer.
    virtual void on_left() = 0;
    /// Returns the bytes of the answer that wait outside of the connection.
    virtual std::size_t waiting() const { return 0; }
  };

  struct request {
    http::servers::request_head head;
    shared_bytes body;
    std::string parameter;  ///< parameter of the path, percent escapes decoded; "" without one
    std::string principal;  ///< identity for which runs are recorded
    pid_t pid = -1;         ///< process of the caller; -1: not known
    bool on_port = false;   ///< came through the TCP port
  };

  /// `door` and `out` must live until the answer is complete or leave() was called.
  exchange(front::door_context& door, outlet& out, request r);

  // Functions for the handler and its work.

  const http::servers::request_head& head() const noexcept { return request_.head; }
  const std::string& parameter() const noexcept { return request_.parameter; }
  const std::string& principal() const noexcept { return request_.principal; }
  pid_t pid() const noexcept { return request_.pid; }
  bool on_port() const noexcept { return request_.on_port; }
  /// Moves the body out, so that a large one need not be held while its answer is made.
  shared_bytes take_body() { return std::move(request_.body); }
  /// Returns true while the answer is incomplete and the caller is connected.
  bool open() const noexcept { return out_ != nullptr; }
  /// Returns the door; only while open(), since it may be destroyed afterwards.
  front::door_context& door() const noexcept { return *door_; }

  /// Keeps `w` and reports drained bytes and the caller's leaving to it, while open(). One at a time. The work may hold
  /// the exchange: it is released with the last byte of the answer, or after on_left().
  void keep(std::shared_ptr<work> w);
  /// Answers with a whole body.
  void answer(http::servers::server_answer a) { reply(std::move(a), false); }
  /// Answers a wrong request and counts it as a fault.
  void refuse(http::servers::server_answer a) { reply(std::move(a), true); }
  /// Begins an answer whose body is sent in parts.
  void begin(int status, std::vector<http::header> headers);
  void send(std::string_view part);
  /// Sends a part that no other one follows soon. on_drained() comes only if it did not leave at once.
  void send_alone(std::string_view part);
  /// Ends that body; `whole` false lets the caller see that it is cut.
  void finish(bool whole = true);
  /// Returns the bytes for this caller that are not sent yet; 0 once open() is false.
  std::size_t unsent() const { return out_ == nullptr ? 0 : out_->unsent(); }
  /// Returns the bytes of the answer that wait for the connection.
  std::size_t waiting() const { return work_ ? work_->waiting() : 0; }

  // Functions for the caller's connection.

  void drained();
  void leave();

 private:
  void reply(http::servers::server_answer a, bool fault);
  outlet* close();

  front::door_context* door_;
  outlet* out_;  // null once the answer is complete or the caller has left
  request request_;
  std::shared_ptr<work> work_;
  bool begun_ = false;
};

}  // namespace mcpbx::daemon::routes
