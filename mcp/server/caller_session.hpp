// One caller's MCP session as a core: messages and faults come in, responses and notifications go out through the host.
// It is the MCP server that callers see, with the tools and other lists of all tool servers behind it. Knows no I/O;
// the time comes through the host.
#pragma once
#include "mcp/protocol/caller_capabilities.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/caller_asks.hpp"
#include "mcp/server/caller_host.hpp"
#include "mcp/server/method_table.hpp"
#include "mcp/server/reply_once.hpp"
#include "mcp/server/tool_call_reply.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

class caller_session final : private reply_taker {
 public:
  struct options {
    std::string version;          ///< version of mcpbx
    std::size_t max_open = 1024;  ///< requests that wait for their answer
    std::size_t max_batch = 64;   ///< messages in one batch
    milliseconds settle{1'000};   ///< time that a list waits for servers that are starting
    caller_asks::options asks{};
    feature_table kinds = feature_kinds();  ///< must outlive all sessions
  };
  struct counters {
    std::uint64_t requests = 0;
    std::uint64_t faults = 0;      ///< lines and batch elements that were no valid message
    std::uint64_t stray = 0;       ///< responses that belong to no open request of mcpbx: unknown, late or repeated
    std::uint64_t overloaded = 0;  ///< requests refused by max_open
  };

  /// Starts before the handshake. `host` and `o` must outlive the session.
  caller_session(caller_host& host, const options& o)
      : host_(host), options_(o), methods_(methods_for(o.kinds)), asks_(std::make_shared<caller_asks>(host, o.asks)) {}
  ~caller_session() override { close(); }
  caller_session(const caller_session&) = delete;
  caller_session& operator=(const caller_session&) = delete;

  void on_message(message&& m);
  /// Answers with the JSON-RPC error of the specification, with the request's id if it could be read.
  void on_fault(const message_fault& f);
  /// Tells an initialized caller that the catalog's entries of this kind have changed.
  void list_changed(const feature_kind& kind);
  /// Cancels an open request as notifications/cancelled does. Returns false if no request has this id.
  bool cancel(const rpc_id& id, std::string_view reason);
  /// Sends the caller a request of mcpbx, for at most `limit`, that ends with its open request `call` (null: none).
  /// Calls `done` once, unless this fails: then nothing was sent. README.md has the errors and the rules for `done`.
  result<call_number> ask(std::string_view method, const raw_json& params, const reply_once* call, milliseconds limit,
                          pending_calls::done_handler done);
  /// Ends that request as cancelled and tells the caller. Returns false if it had ended.
  bool withdraw(call_number ask, std::string_view reason);
  /// Ends requests to a caller that sends no more but still reads, as unavailable. It gets no further ones.
  void end_input();
  /// Cancels everything open, for a caller that is gone. Nothing is sent any more.
  void close();

  bool initialized() const noexcept { return phase_ != phase::fresh; }
  std::size_t open() const noexcept { return open_.size(); }
  /// Returns the serial that the next request of the caller gets.
  std::uint64_t next_serial() const noexcept { return next_serial_; }
  /// Returns the number of requests that wait for the caller's answer.
  std::size_t asked() const noexcept { return asks_->size(); }
  /// Returns the revision that `initialize` agreed on; "" before.
  std::string_view revision() const noexcept { return revision_; }
  const counters& counts() const noexcept { return counts_; }

 private:
  enum class phase : std::uint8_t { fresh, answered, ready };  // before initialize, after it, after `initialized`
  using methods = method_table<caller_session>;
  static std::shared_ptr<const methods> methods_for(feature_table kinds);
  static void add_list_methods(methods& m, feature_table kinds);  // methods_lists.cpp
  static void add_tool_methods(methods& m);                       // methods_tools.cpp

  void take_request(message&& m, std::shared_ptr<reply_batch> batch);
  void take_notification(const message& m);
  void take_response(message&& m);
  void take_batch(const message& m);
  void dispatch(const message& m, reply_once reply);
  void refuse(const rpc_id& id, int code, std::string text, const std::shared_ptr<reply_batch>& batch,
              raw_json data = {}, std::uint64_t serial = 0);
  void deliver(answered what, const segments& text, const std::shared_ptr<reply_batch>& batch);
  void finish_batch_part(const std::shared_ptr<reply_batch>& batch);
  [[nodiscard]] caller_asks::ending end_request(open_request& r);
  void cancel_request(open_request& r, std::string_view reason);
  void take_reply(open_request& r, const segments& text) override;

  void initialize(const raw_json& params, const reply_once& reply);
  raw_json handshake() const;
  void list(const feature_kind& kind, const raw_json& params, const reply_once& reply);
  void call_tool(const raw_json& params, const tool_call_reply& reply, bool settled);

  caller_host& host_;
  const options& options_;
  const std::shared_ptr<const methods> methods_;
  phase phase_ = phase::fresh;
  bool closed_ = false;
  std::string revision_;
  raw_json client_info_;
  caller_capabilities capabilities_;
  bool input_ended_ = false;
  const std::shared_ptr<caller_asks> asks_;
  /// A hash that the table does not know as std::hash: with that one, tables of up to 20 strings are searched one by
  /// one, which is slow for keys of equal length.
  struct key_hash {
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  // Open requests by the id's type and value. reply_once keeps each one alive; the key is a view of its id.
  recycling_map<std::string_view, open_request*, key_hash> open_;
  std::uint64_t next_serial_ = 1;
  counters counts_;
};

}  // namespace mcpbx::mcp
