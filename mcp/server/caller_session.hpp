// One caller's MCP session as a core: messages and faults come in, responses and notifications go out through the host.
// It is the MCP server that callers see, with the tools of all tool servers behind it. Knows no I/O; the time comes
// through the host.
#pragma once
#include "mcp/protocol/caller_capabilities.hpp"
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
    std::string version;          ///< of mcpbx
    std::size_t max_open = 1024;  ///< requests that wait for their answer
    std::size_t max_batch = 64;   ///< messages in one batch
    milliseconds settle{1'000};   ///< how long tools/list waits for servers that are starting
    caller_asks::options asks{};
  };
  struct counters {
    std::uint64_t requests = 0;
    std::uint64_t faults = 0;      ///< lines and batch elements that were no valid message
    std::uint64_t stray = 0;       ///< responses that belong to no open request of ours: unknown, late or repeated
    std::uint64_t overloaded = 0;  ///< requests refused by max_open
  };

  /// `host` and `o` must outlive the session.
  caller_session(caller_host& host, const options& o)
      : host_(host), options_(o), asks_(std::make_shared<caller_asks>(host, o.asks)) {}
  ~caller_session() override { close(); }
  caller_session(const caller_session&) = delete;
  caller_session& operator=(const caller_session&) = delete;

  void on_message(message&& m);
  /// Answers with the JSON-RPC error of the specification, with the request's id if it could be read.
  void on_fault(const message_fault& f);
  /// The catalog changed: an initialized caller is told.
  void tools_changed();
  /// Cancels an open request as notifications/cancelled does. False when none has this id.
  bool cancel(const rpc_id& id, std::string_view reason);
  /// Sends the caller a request of ours, for at most `limit`. `call` is the open request that it belongs to, or null;
  /// it ends with that one. An error means that nothing was sent and `done` will not come: errc::not_found when the
  /// caller has not declared that it can answer this, errc::limit at the bounds, errc::cancelled when the call is over,
  /// errc::unavailable when the caller can be asked nothing. Else `done` comes once, with a clause as failure, and not
  /// from inside unless the host closes the session in send_ask(); it may close and destroy the session.
  result<call_number> ask(std::string_view method, const raw_json& params, const reply_once* call, milliseconds limit,
                          pending_calls::done_handler done);
  /// Ends that request as cancelled and tells the caller. False if it had ended.
  bool withdraw(call_number ask, std::string_view reason);
  /// The caller says no more, and still reads: what it was asked ends as unavailable, and it is asked nothing again.
  void end_input();
  /// The caller is gone: everything open is cancelled, nothing is sent any more.
  void close();

  bool initialized() const noexcept { return phase_ != phase::fresh; }
  std::size_t open() const noexcept { return open_.size(); }
  /// Requests of ours that wait for the caller.
  std::size_t asked() const noexcept { return asks_->size(); }
  /// What `initialize` agreed on; "" before.
  std::string_view revision() const noexcept { return revision_; }
  const counters& counts() const noexcept { return counts_; }

 private:
  enum class phase : std::uint8_t { fresh, answered, ready };  // before initialize, after it, after `initialized`
  using methods = method_table<caller_session>;
  static const methods& mcp_methods();

  void take_request(message&& m, std::shared_ptr<reply_batch> batch);
  void take_notification(const message& m);
  void take_response(message&& m);
  void take_batch(const message& m);
  void dispatch(const message& m, reply_once reply);
  void refuse(const rpc_id& id, int code, std::string text, const std::shared_ptr<reply_batch>& batch,
              raw_json data = {});
  void deliver(const segments& text, const std::shared_ptr<reply_batch>& batch);
  void finish_batch_part(const std::shared_ptr<reply_batch>& batch);
  [[nodiscard]] caller_asks::ending end_request(open_request& r);
  void cancel_request(open_request& r, std::string_view reason);
  void take_reply(open_request& r, const segments& text) override;

  void initialize(const raw_json& params, const reply_once& reply);
  void list_tools(const raw_json& params, const reply_once& reply);
  void call_tool(const raw_json& params, const tool_call_reply& reply, bool settled);

  caller_host& host_;
  const options& options_;
  phase phase_ = phase::fresh;
  bool closed_ = false;
  std::string revision_;
  raw_json client_info_;
  caller_capabilities capabilities_;
  bool input_ended_ = false;
  const std::shared_ptr<caller_asks> asks_;
  /// Not std::hash itself: with that a table of up to 20 strings is searched one by one, and here their lengths are
  /// equal.
  struct key_hash {
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  // By the id's type and value. An entry is the request that its reply_once keeps alive; the key is a view of its id.
  recycling_map<std::string_view, open_request*, key_hash> open_;
  std::uint64_t next_serial_ = 1;
  counters counts_;
};

}  // namespace mcpbx::mcp
