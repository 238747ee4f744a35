// One caller's MCP session as a core: messages and faults come in, responses and notifications go out through the host.
// It is the MCP server that callers see, with the tools of all tool servers behind it. Knows no I/O and no clock.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/call_recorder.hpp"
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

/// What a session needs around it: an outbox, the tools, and the methods that are no part of MCP.
class caller_host {
 public:
  virtual ~caller_host() = default;

  /// A response. It must reach the caller.
  virtual void send(const segments& text) = 0;
  /// A progress notification of the request with this serial; a later one of the same request may take its place.
  virtual void send_progress(std::uint64_t serial, const segments& text) = 0;
  /// `notifications/tools/list_changed`; one that has not left yet stands for all.
  virtual void send_list_changed() = 0;

  virtual catalog_ptr tools() const = 0;
  /// Why no new tools/call is taken now, if so: mcpbx is stopping.
  virtual result<void> admit_call() const { return {}; }
  /// The same of a call of this tool.
  virtual result<void> admit_call(const catalog_entry& /*tool*/) const { return {}; }
  /// Who keeps record of the caller's tools/calls; null: nobody.
  virtual std::shared_ptr<call_recorder> recorder() const { return nullptr; }
  /// Calls `then`, never from inside, once no tool server is starting for the first time or the time is up. Not at all
  /// when the session's connection is gone by then.
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;

  /// A request for a method that is none of MCP's. False when there is no such method; then `reply` was not touched.
  virtual bool handle(std::string_view method, const raw_json& params, const reply_once& reply) = 0;
  /// The methods that handle() knows, for suggestions.
  virtual std::vector<std::string_view> methods() const = 0;
};

class caller_session final : private reply_taker {
 public:
  struct options {
    std::string version;          ///< of mcpbx
    std::size_t max_open = 1024;  ///< requests that wait for their answer
    std::size_t max_batch = 64;   ///< messages in one batch
    milliseconds settle{1'000};   ///< how long tools/list waits for servers that are starting
  };
  struct counters {
    std::uint64_t requests = 0;
    std::uint64_t faults = 0;      ///< lines and batch elements that were no valid message
    std::uint64_t stray = 0;       ///< responses: we ask callers nothing
    std::uint64_t overloaded = 0;  ///< requests refused by max_open
  };

  /// `host` and `o` must outlive the session.
  caller_session(caller_host& host, const options& o) : host_(host), options_(o) {}
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
  /// The caller is gone: everything open is cancelled, nothing is sent any more.
  void close();

  bool initialized() const noexcept { return phase_ != phase::fresh; }
  std::size_t open() const noexcept { return open_.size(); }
  /// What `initialize` agreed on; "" before.
  std::string_view revision() const noexcept { return revision_; }
  const counters& counts() const noexcept { return counts_; }

 private:
  enum class phase : std::uint8_t { fresh, answered, ready };  // before initialize, after it, after `initialized`
  using methods = method_table<caller_session>;
  static const methods& mcp_methods();

  void take_request(message&& m, std::shared_ptr<reply_batch> batch);
  void take_notification(const message& m);
  void take_batch(const message& m);
  void dispatch(const message& m, reply_once reply);
  void refuse(const rpc_id& id, int code, std::string text, const std::shared_ptr<reply_batch>& batch,
              raw_json data = {});
  void deliver(const segments& text, const std::shared_ptr<reply_batch>& batch);
  void finish_batch_part(const std::shared_ptr<reply_batch>& batch);
  void end_request(open_request& r);
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
