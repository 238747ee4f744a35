// The answer to one request: it can be given once and cannot be forgotten. Copies stand for the same request; if the
// last one is destroyed without an answer, the caller gets an internal error instead of silence.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/modern_request.hpp"
#include "mcp/support/recycled.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace mcpbx::mcp::server {

struct open_request;

/// Interface that takes finished answers; the session that the request came through implements it.
class reply_taker {
 public:
  virtual ~reply_taker() = default;
  /// Takes the complete response. The request is over.
  virtual void take_reply(open_request& request, const json::segments& text) = 0;
};

/// The request that a response answers.
struct answered {
  std::uint64_t about = 0;  ///< its serial, or that of the first request of a batch; 0: it answers no request
  int error = 0;            ///< code of the JSON-RPC error; 0: a result, or a batch
};

/// Interface that takes the responses of a session.
class reply_outbox {
 public:
  virtual ~reply_outbox() = default;
  /// Sends a response. It must reach the caller.
  virtual void send(const answered& what, const json::segments& text) = 0;
  /// Tells that the request with this serial, or the batch that begins with it, was cancelled and gets no response.
  virtual void send_nothing(std::uint64_t /*about*/) {}
};

/// The responses of one JSON-RPC batch, gathered into one array.
class reply_batch {
 public:
  /// `serial` is that of the first request in the batch, or 0.
  explicit reply_batch(std::uint64_t serial = 0) : serial_(serial) {}
  std::uint64_t serial() const noexcept { return serial_; }
  /// Counts one more response that may come.
  void expect() { ++waiting_; }
  void add(const json::segments& response);
  /// Counts an expected response as come, or as never to come. Returns the array after the last one; empty until then,
  /// and if there was no response at all.
  json::segments end_one();
  /// Returns true if no further response is expected.
  bool over() const noexcept { return waiting_ == 0; }

 private:
  std::uint64_t serial_;
  std::size_t waiting_ = 0, gathered_ = 0;
  json::segments text_;
};

/// A caller's request from its arrival to its answer. Only the speaking thread ever touches it, so references are
/// counted without the atomic operations of a shared_ptr.
struct open_request : boost::intrusive_ref_counter<open_request, boost::thread_unsafe_counter> {
  open_request(reply_taker* t, rpc::rpc_id&& i, std::uint64_t n) : taker(t), id(std::move(i)), serial(n) {}
  ~open_request();
  open_request(const open_request&) = delete;
  open_request& operator=(const open_request&) = delete;
  static void* operator new(std::size_t) { return spare_blocks<sizeof(open_request)>::take(); }
  static void operator delete(void* memory) noexcept { spare_blocks<sizeof(open_request)>::give(memory); }

  reply_taker* taker;  ///< null once answered or cancelled, or if the caller is gone
  rpc::rpc_id id;
  std::uint64_t serial;                       ///< not used twice in a session
  std::move_only_function<void()> on_cancel;  ///< ends the work; called at most once
  std::shared_ptr<reply_batch> batch;
  std::unique_ptr<modern_request> modern;  ///< null: the request is of the legacy era
  int error = 0;                           ///< code of the error that it was answered with
  bool own = false;                        ///< one of mcpbx's own methods: a cancelled one is answered with an error
};

class reply_once {
 public:
  reply_once() = default;
  explicit reply_once(boost::intrusive_ptr<open_request> request) : request_(std::move(request)) {}

  // Each of these functions answers. Only the first answer counts, and none if the request was cancelled or its caller
  // is gone.
  /// Answers with this result; a modern caller gets it as modern_result() makes it.
  void result(const json::raw_json& value) const;
  /// Answers with this text of a result, which has the form for its caller already.
  void result(const json::segments& value) const;
  /// Answers with an error of mcpbx's own, with a code that the caller's era has.
  void error(const rpc::rpc_error& e) const;
  /// Answers with the error object as its sender wrote it.
  void error(const json::raw_json& e) const;

  /// Sets the function that ends the work if the caller cancels the request or leaves.
  void on_cancel(std::move_only_function<void()> end) const { request_->on_cancel = std::move(end); }
  /// Marks the request as one of the modern era.
  void set_modern(std::unique_ptr<modern_request> m) const { request_->modern = std::move(m); }
  /// Marks the request as one of mcpbx's own methods.
  void mark_own() const { request_->own = true; }
  /// Returns false once the request is answered or cancelled, or if its caller is gone.
  bool open() const noexcept { return request_ && request_->taker; }
  /// Returns what a modern caller said about itself with the request; null for a legacy one.
  modern_request* modern() const noexcept { return request_ ? request_->modern.get() : nullptr; }
  const rpc::rpc_id& id() const noexcept { return request_->id; }
  std::uint64_t serial() const noexcept { return request_->serial; }

 private:
  void send(const json::segments& text) const;
  boost::intrusive_ptr<open_request> request_;
};

}  // namespace mcpbx::mcp::server
