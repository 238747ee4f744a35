// One request over HTTP and its answer, as a handler has it: without the connection, which may go at any moment.
#pragma once
#include "mcp/http/server/request_parser.hpp"
#include "mcp/http/server/server_connection.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

struct door_context;

/// A request that waits for its answer. The caller keeps it until the answer is complete or the caller has left;
/// others may keep it for as long as they like, and call any of its functions but door() at any time. A call that comes
/// too late (a second answer, a part of a body that has ended) does nothing.
///
/// The caller may leave from inside any call of answer(), begin(), send() and finish(). Code behind such a call asks
/// open() again before it uses the door.
class exchange final : public std::enable_shared_from_this<exchange> {
 public:
  /// The way out for an answer: the caller's connection.
  class outlet {
   public:
    /// The whole answer. The request is done with; the outlet drops the exchange. `fault`: counts as a faulty request.
    virtual void answer(http::server_answer a, bool fault) = 0;
    virtual void begin(int status, std::vector<http::header> headers) = 0;
    virtual void send(std::string_view part) = 0;
    /// The end of a body that came in parts. The request is done with; the outlet drops the exchange.
    virtual void finish(bool whole) = 0;
    virtual std::size_t unsent() const = 0;

   protected:
    ~outlet() = default;
  };

  /// Something that goes on until the answer is complete. The exchange keeps it until then, or until the caller has
  /// left.
  class work {
   public:
    virtual ~work() = default;
    /// All that had been sent of the answer has left. The exchange may be answered and the caller may leave in here.
    virtual void on_drained() {}
    /// The caller is gone, and open() is false. Comes once at most, not after a complete answer.
    virtual void on_left() = 0;
  };

  struct request {
    http::request_head head;
    shared_bytes body;
    std::string parameter;  ///< of the path, percent escapes decoded; "" without one
    std::string principal;  ///< whom a run is recorded for
  };

  /// `door` and `out` must be there until the answer is complete or leave() was called.
  exchange(door_context& door, outlet& out, request r);

  // For the handler and its work.

  const http::request_head& head() const noexcept { return request_.head; }
  const std::string& parameter() const noexcept { return request_.parameter; }
  const std::string& principal() const noexcept { return request_.principal; }
  /// Gives the body away, so that a large one need not be held while its answer is made.
  shared_bytes take_body() { return std::move(request_.body); }
  /// True while the answer is not complete and the caller is still there.
  bool open() const noexcept { return out_ != nullptr; }
  /// Only while open(): the door may be gone afterwards.
  door_context& door() const noexcept { return *door_; }

  /// Keeps `w` and tells it of the caller, while open(). One at a time. The work may hold the exchange: it is dropped
  /// with the last byte of the answer, or after on_left().
  void keep(std::shared_ptr<work> w);
  /// Answers whole.
  void answer(http::server_answer a) { reply(std::move(a), false); }
  /// The same for a request that is wrong; it is counted as a fault.
  void refuse(http::server_answer a) { reply(std::move(a), true); }
  /// Begins an answer whose body comes in parts.
  void begin(int status, std::vector<http::header> headers);
  void send(std::string_view part);
  /// Ends that body; with `whole` false so that the caller sees that it is cut.
  void finish(bool whole = true);
  /// Bytes for this caller that have not left yet; 0 once it is not open().
  std::size_t unsent() const { return out_ == nullptr ? 0 : out_->unsent(); }

  // For the caller's connection.

  void drained();
  void leave();

 private:
  void reply(http::server_answer a, bool fault);
  outlet* close();

  door_context* door_;
  outlet* out_;  // null once the answer is complete or the caller has left
  request request_;
  std::shared_ptr<work> work_;
  bool begun_ = false;
};

}  // namespace mcpbx::daemon
