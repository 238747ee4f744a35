// A request of a caller of 2026-07-28 at /mcp. It needs no session: it has an mcp::callers::caller_session of its own,
// which ends with it. A connection that ends cancels it (2026-07-28, streamable-http, "Cancellation").
#pragma once
#include "daemon/front/mcp/answer_stream.hpp"
#include "daemon/front/mcp/mcp_host.hpp"
#include "mcp/server/caller_session.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mcpbx::daemon::mcp_door {

class single_request final : public std::enable_shared_from_this<single_request>,
                             public front::news_reader,
                             private mcp_host,
                             private answer_stream::owner {
 public:
  /// `door` and `o` must outlive this object. `ended` is called once, when it is over, unless close() was called; it
  /// destroys this object in a later turn.
  single_request(front::door_context& door, const mcp::callers::caller_session::options& o, mcp_identity who, pid_t pid,
                 mcp::clients::call_scope_ptr scope, std::function<void(single_request&)> ended);
  ~single_request() override { close(); }

  /// Returns the error of a call of the tool with this definition.
  using late_check = std::function<std::optional<mcp::rpc::rpc_error>(const json::raw_json& definition)>;

  /// Answers `x`. `place` is released when the request is over. `check`: of a call whose tool is not known yet.
  void start(const std::shared_ptr<routes::exchange>& x, mcp::rpc::message&& m, std::shared_ptr<void> place,
             late_check check = {});
  void list_changed(const mcp::protocol::feature_kind& kind) override { session_.list_changed(kind); }
  void look_after(time_point now) { answer_->keep_alive(now); }
  /// Ends its subscription, if it is one, with the result that says so.
  void end_listens() { session_.end_listens(false); }
  /// Cancels it and ends its connection.
  void close();
  std::size_t open_requests() const noexcept { return session_.open(); }
  const mcp::callers::caller_session::counters& counts() const noexcept { return session_.counts(); }

 private:
  std::optional<mcp::rpc::rpc_error> check_call(const mcp::catalogs::catalog_entry& tool) const override {
    return check_ ? check_(tool.definition) : std::nullopt;
  }
  // Implements the rest of caller_host. There is one request, so all that is said belongs to it.
  void send(const mcp::server::answered& what, const json::segments& text) override;
  void send_nothing(std::uint64_t /*about*/) override { answer_->respond_nothing(); }
  void send_progress(std::uint64_t serial, const json::segments& text) override {
    answer_->push_progress(serial, text);
  }
  void send_list_changed(const mcp::protocol::feature_kind& kind, const json::segments& text) override {
    answer_->push_merged(std::string(kind.capability), text);
  }
  void send_ask(std::uint64_t about, const json::segments& text, mcp::rpc::outgoing what) override;
  void send_note(const mcp::server::note& n, const json::segments& text) override;
  // Implements answer_stream::owner.
  void on_lost(answer_stream& s) override;
  void on_over(answer_stream& s) override;
  void end();

  mcp::callers::caller_session session_;
  const std::shared_ptr<answer_stream> answer_;
  std::shared_ptr<void> place_;
  late_check check_;
  std::function<void(single_request&)> ended_;
  bool closed_ = false;
};

/// Returns the status for a response to a modern request, by the code of its error (2026-07-28: streamable-http,
/// "Protocol Version Header" and "Server Validation"; basic, "_meta").
int modern_status(int error);

}  // namespace mcpbx::daemon::mcp_door
