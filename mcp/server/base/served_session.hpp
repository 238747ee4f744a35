// A server's side of one MCP session, as a core: the handshakes of both eras, ids, batches, cancellation, dispatch by
// tables of methods, and errors. caller_session and the toolbox are built on it; each adds its methods.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/method_table.hpp"
#include "mcp/server/base/modern_request.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/recycled.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::server {

/// The methods of a server, by the era of the request. A server without modern methods does not read `_meta`: all its
/// requests are legacy ones.
template <class Session>
struct method_tables {
  method_table<Session> legacy, modern;
};

/// Begin and end of the texts with which a session refuses messages.
struct refusal_words {
  std::string_view parse_error = "parse error: ", invalid_request = "invalid request: ", end;
  std::string_view not_open = "invalid request: send initialize first";
};

class served_session : public rpc::message_sink, private reply_taker {
 public:
  struct rules {
    std::size_t max_open = 1024;  ///< requests that wait for their answer
    std::size_t max_batch = 64;   ///< messages in one batch
    int max_depth = 256;          ///< levels of a message of a batch
    bool only_modern = false;     ///< requests without a protocol version in `_meta` are refused
    bool only_legacy = false;     ///< requests with one are refused
    refusal_words words{};
  };
  struct counters {
    std::uint64_t requests = 0;
    std::uint64_t faults = 0;      ///< lines and batch elements that were no valid message
    std::uint64_t stray = 0;       ///< responses that belong to no open request of ours: unknown, late or repeated
    std::uint64_t overloaded = 0;  ///< requests refused by max_open
  };

  /// Starts before the handshake. `out` must outlive the session.
  served_session(reply_outbox& out, const rules& r) : out_(out), rules_(r) {}
  ~served_session() override { shut(); }
  served_session(const served_session&) = delete;
  served_session& operator=(const served_session&) = delete;

  void on_message(rpc::message&& m) final;
  /// Answers with the JSON-RPC error of the specification, with the request's id if it could be read.
  void on_fault(rpc::message_fault f) override;
  /// Cancels an open request as notifications/cancelled does. Returns false if no request has this id.
  bool cancel(const rpc::rpc_id& id, std::string_view reason);

  /// Returns true once `initialize` was answered, or is about to be.
  bool initialized() const noexcept { return phase_ != phase::fresh; }
  /// Returns the number of open requests.
  std::size_t open() const noexcept { return open_.size(); }
  /// Returns the serial that the next request of the caller gets.
  std::uint64_t next_serial() const noexcept { return next_serial_; }
  /// Returns the revision that `initialize` agreed on; "" before.
  std::string_view revision() const noexcept { return revision_; }
  const counters& counts() const noexcept { return counts_; }

  /// Adds initialize and ping, which open a session of the legacy era.
  template <class Session>
  static void add_legacy_opening(method_table<Session>& m) {
    m.add("initialize",
          [](served_session& s, const json::raw_json& p, const reply_once& reply) { s.initialize(p, reply); });
    m.add("ping", [](served_session&, const json::raw_json&, const reply_once& reply) {
      reply.result(json::raw_json::literal("{}"));
    });
  }
  /// Adds server/discover, with which a caller of the modern era may begin.
  template <class Session>
  static void add_modern_opening(method_table<Session>& m) {
    m.add("server/discover",
          [](served_session& s, const json::raw_json&, const reply_once& reply) { s.discover(reply); });
  }

 protected:
  // A server says with these functions how it differs from others.
  /// Answers a request, mostly by call_handler(); may destroy the session.
  virtual void dispatch(const rpc::message& m, reply_once reply) = 0;
  /// Reads the params of `initialize`, and keeps what else the caller says. Returns the revision that it asks for.
  virtual std::expected<std::string, rpc::rpc_error> read_opening(const json::raw_json& params) = 0;
  /// Calls `then` when the server knows what it offers: at once, or later unless the session has ended by then.
  virtual void when_settled(std::function<void()> then) { then(); }
  /// Writes the member `capabilities` for a caller of this revision.
  virtual void write_capabilities(json::json_writer& out, std::string_view revision) const = 0;
  /// Returns the Implementation object of this server.
  virtual json::raw_json make_server_info() const = 0;
  /// Returns the instructions for the model, or "".
  virtual std::string instructions() const = 0;
  /// Called once the caller has sent notifications/initialized.
  virtual void on_ready() {}
  /// Takes notifications that are neither `initialized` nor `cancelled`.
  virtual void take_notification(const rpc::message& /*m*/) {}
  /// Takes a response. Returns false if it answers no open request of ours.
  virtual bool take_response(rpc::message&& /*m*/) { return false; }
  /// Takes a message that is not valid. Returns true if it is a response, which is never answered.
  virtual bool take_broken_response(const rpc::envelope_fault& f) = 0;
  /// Called when the request with this serial is over, before its answer leaves. Returns what is to be done after that,
  /// which may destroy the session, or null.
  virtual std::move_only_function<void()> ended(std::uint64_t /*serial*/) { return nullptr; }

  /// Calls the method's handler of the request's era, or answers that this era has no such method or is not open.
  /// Returns false, and leaves `reply` alone, if neither table has the method.
  template <class Session>
  bool call_handler(Session& session, const method_tables<Session>& tables, const rpc::message& m,
                    const reply_once& reply) {
    const auto* legacy = tables.legacy.find(m.method());
    const auto* modern = tables.modern.find(m.method());
    if (!legacy && !modern) return false;
    if (!enter(m, {legacy != nullptr, modern != nullptr, !tables.modern.empty()}, reply)) return true;
    (reply.modern() ? *modern : *legacy)(session, m.params, reply);
    return true;
  }
  /// The eras that have a method.
  struct method_eras {
    bool legacy = true, modern = true;
    bool reads_meta = true;  ///< false: the server knows no modern requests
  };
  /// Reads the era of a request into `reply`. Returns false if it was answered: with an error of its `_meta`, of a
  /// method that its era does not have, or of a session that is not open.
  bool enter(const rpc::message& m, const method_eras& has, const reply_once& reply);

  bool closed() const noexcept { return closed_; }
  /// Returns true once the caller has sent notifications/initialized.
  bool ready() const noexcept { return phase_ == phase::ready; }
  /// Ends the session: nothing is taken or answered any more. Returns the functions that end open work.
  std::vector<std::move_only_function<void()>> shut();

 private:
  enum class phase : std::uint8_t { fresh, answered, ready };  // before initialize, after it, after `initialized`

  void take_request(rpc::message&& m, std::shared_ptr<reply_batch> batch);
  void take_batch(const rpc::message& m);
  void take_own_notification(const rpc::message& m);
  std::string refusal(int code, std::string_view what) const;
  void refuse(const rpc::rpc_id& id, int code, std::string text, const std::shared_ptr<reply_batch>& batch,
              json::raw_json data = {}, std::uint64_t serial = 0);
  void deliver(answered what, const json::segments& text, const std::shared_ptr<reply_batch>& batch);
  void finish_batch_part(const std::shared_ptr<reply_batch>& batch);
  std::move_only_function<void()> end_request(open_request& r);
  void cancel_request(open_request& r, std::string_view reason);
  void take_reply(open_request& r, const json::segments& text) override;

  void initialize(const json::raw_json& params, const reply_once& reply);
  void discover(const reply_once& reply);
  json::raw_json opening(std::string_view revision);
  const json::raw_json& server_info();

  reply_outbox& out_;
  const rules rules_;
  phase phase_ = phase::fresh;
  bool closed_ = false;
  std::shared_ptr<bool> gone_;  // becomes true when the session ends; null until the first batch
  std::string revision_;
  // Open requests by the id's type and value. reply_once keeps each one alive; the key is a view of its id.
  recycling_map<std::string_view, open_request*, keyed_hash> open_;
  std::uint64_t next_serial_ = 1;
  counters counts_;
  known_meta known_meta_;
  json::raw_json server_info_;  // made when it is first told
};

}  // namespace mcpbx::mcp::server
