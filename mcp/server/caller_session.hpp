// One caller's MCP session as a core: messages and faults come in, responses and notifications go out through the host.
// It is the MCP server that callers see, with the tools and other lists of all tool servers behind it. `served_session`
// has the handshakes, ids and batches. Knows no I/O; the time comes through the host.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/caller_capabilities.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/caller_host.hpp"
#include "mcp/server/base/method_table.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/server/base/served_session.hpp"
#include "mcp/server/caller_asks.hpp"
#include "mcp/server/passed_call.hpp"
#include "mcp/server/tool_call_reply.hpp"
#include "mcp/server/watches/caller_listens.hpp"
#include "mcp/server/watches/caller_watches.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::callers {

struct incoming_call;

/// Returns a legacy caller's capabilities as a modern tool server may see them.
json::raw_json without_tasks(const json::raw_json& capabilities);

class caller_session final : public server::served_session {
 public:
  struct options {
    std::string version;          ///< version of mcpbx
    std::size_t max_open = 1024;  ///< requests that wait for their answer
    std::size_t max_batch = 64;   ///< messages in one batch
    milliseconds settle{1'000};   ///< time that a list waits for servers that are starting
    caller_asks::options asks{};
    watches::caller_listens::options listens{};
    milliseconds question_limit{3'600'000};  ///< time for a legacy caller's answer to a question of a tool server
    /// Time that questions for a modern caller wait for others of the same call, which are asked together.
    milliseconds gather{25};
    bool only_modern = false;  ///< requests without a protocol version in `_meta` are refused
    bool only_legacy = false;  ///< requests with one are refused
    protocol::feature_table kinds = protocol::feature_kinds();  ///< must outlive all sessions
  };

  /// Starts before the handshake. `host` and `o` must outlive the session.
  caller_session(server::caller_host& host, const options& o)
      : served_session(host, {.max_open = o.max_open,
                              .max_batch = o.max_batch,
                              .only_modern = o.only_modern,
                              .only_legacy = o.only_legacy}),
        host_(host),
        options_(o),
        tables_(tables_for(o.kinds)),
        asks_(std::make_shared<caller_asks>(host, o.asks)) {}
  ~caller_session() override { close(); }
  caller_session(const caller_session&) = delete;
  caller_session& operator=(const caller_session&) = delete;

  /// Tells an initialized caller, and its subscriptions, that the catalog's entries of this kind have changed.
  void list_changed(const protocol::feature_kind& kind);
  /// Sends the caller a request of mcpbx, for at most `limit`, that ends with its open request `call` (null: none).
  /// Calls `done` once, unless this fails: then nothing was sent. README.md has the errors and the rules for `done`.
  /// `listed`: the method is one of an extension that the caller lists.
  result<rpc::call_number> ask(std::string_view method, const json::raw_json& params, const server::reply_once* call,
                               milliseconds limit, rpc::pending_calls::done_handler done, bool listed = false);
  /// Passes progress with this token on to `progress`, until no_progress(). At most as many as there are open requests.
  void take_progress(std::string token, std::function<void(const json::raw_json& params)> progress);
  void no_progress(std::string_view token) {
    if (const auto found = progress_.find(token); found != progress_.end()) progress_.erase(found);
  }
  /// Ends that request as cancelled and tells the caller. Returns false if it had ended.
  bool withdraw(rpc::call_number ask, std::string_view reason);
  /// Ends the caller's subscriptions/listen with their results. `tell`: sends notifications/cancelled as well, which
  /// callers of one stream for everything need.
  void end_listens(bool tell);
  /// For a caller that still reads but sends no more: ends the requests to it with errc::unavailable and its
  /// subscriptions/listen. It gets no further requests.
  void end_input();
  /// Cancels everything open, for a caller that is gone. Nothing is sent any more.
  void close();

  /// Returns the number of requests that wait for the caller's answer.
  std::size_t asked() const noexcept { return asks_->size(); }
  /// Returns the number of open subscriptions/listen; they count as open requests as well.
  std::size_t listens() const noexcept { return listens_ ? listens_->size() : 0; }

  // Functions for the calls of this session.
  server::caller_host& host() noexcept { return host_; }
  milliseconds question_limit() const noexcept { return options_.question_limit; }
  milliseconds gathering() const noexcept { return options_.gather; }
  /// Returns a pointer to this session that is null once the session has closed.
  std::shared_ptr<caller_session*> link();
  /// Sets what the tool server may know of the caller, and what it may ask.
  void describe_caller(clients::server_call& call, const server::reply_once& reply, bool modern_server,
                       const std::string& server);
  /// Returns true if a legacy caller can answer this question now.
  bool may_be_asked(std::string_view method, const json::raw_json& params) const;
  bool may_be_asked(const clients::server_question& q) const;
  /// Asks a legacy caller what belongs to no call of it, as call_scope::ask().
  bool ask_outside(const clients::server_question& q, rpc::pending_calls::done_handler done);
  bool wants_logs(const server::reply_once& reply) const;
  /// Sends a log message of a call if the caller wants its level.
  void send_log(const server::reply_once& reply, const json::raw_json& params);
  /// Passes a notification on if the caller lists one of these extensions; `call`: the request of the caller that it is
  /// about, or null.
  void tell_extension(const std::vector<std::string>& extensions, std::string_view method, const json::raw_json& params,
                      const server::reply_once* call);
  bool hears_of_elicitations() const noexcept { return capabilities_.elicitation_url; }

 private:
  using methods = server::method_table<caller_session>;
  using tables = server::method_tables<caller_session>;
  static std::shared_ptr<const tables> tables_for(protocol::feature_table kinds);
  static void add_list_methods(methods& m, protocol::feature_table kinds);  // methods_lists.cpp
  static void add_call_methods(methods& m, bool modern);                    // methods_calls.cpp

  // Functions that served_session calls
  void dispatch(const rpc::message& m, server::reply_once reply) override;
  std::expected<std::string, rpc::rpc_error> read_opening(const json::raw_json& params) override;
  void when_settled(std::function<void()> then) override;
  void write_capabilities(json::json_writer& out, std::string_view revision) const override;
  json::raw_json make_server_info() const override;
  std::string instructions() const override;
  void on_ready() override;
  void take_notification(const rpc::message& m) override;
  bool take_response(rpc::message&& m) override;
  bool take_broken_response(const rpc::envelope_fault& f) override;
  std::move_only_function<void()> ended(std::uint64_t serial) override;

  void offer_roots();
  bool can_be_asked() const noexcept { return ready() && !input_ended_; }
  bool is_wanted(const json::raw_json& log, std::optional<std::size_t> least) const;

  void list(const protocol::feature_kind& kind, const json::raw_json& params, const server::reply_once& reply);
  void call(const call_shape& shape, const json::raw_json& params, const tool_call_reply& reply, bool settled);
  bool take_back(const call_shape& shape, const incoming_call& in, const tool_call_reply& reply);
  void set_level(const json::raw_json& params, const server::reply_once& reply);
  void roots_changed();
  // Methods of extensions (caller_extensions.cpp)
  bool has_extension(std::string_view method, const json::raw_json& params) const;
  std::string about_extensions(std::string_view method) const;
  void call_extension(const std::string& method, const json::raw_json& params, const tool_call_reply& reply);
  void notify_extension(std::string_view method, const json::raw_json& params);
  void watch_extensions();
  watches::caller_watches& watches();
  watches::caller_listens& listen_table();

  server::caller_host& host_;
  const options& options_;
  const std::shared_ptr<const tables> tables_;
  json::raw_json client_info_;
  json::raw_json declared_;  // capabilities of `initialize`, as a modern server may see them; or absent
  bool extends_ = false;     // they list extensions or experimental capabilities
  protocol::caller_capabilities capabilities_;
  std::optional<std::size_t> level_;  // of logging/setLevel, as a place in log_levels
  bool input_ended_ = false;
  const std::shared_ptr<caller_asks> asks_;
  std::map<std::string, std::function<void(const json::raw_json&)>, std::less<>> progress_;  // by token of ours
  std::unique_ptr<watches::caller_listens> listens_;                                         // null until there was one
  std::unique_ptr<watches::caller_watches> watches_;                                         // null until there was one
  std::vector<std::pair<std::weak_ptr<clients::client>, clients::watch>> extension_watches_;
  catalogs::extension_routes_ptr watched_routes_;  // those that extension_watches_ are for
  std::shared_ptr<caller_session*> link_;          // null until it is asked for
};

}  // namespace mcpbx::mcp::callers
