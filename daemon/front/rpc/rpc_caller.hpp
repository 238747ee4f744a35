// One JSON-RPC caller, which connects its transport, outbox, MCP session and runs.
#pragma once
#include "daemon/front/base/caller.hpp"
#include "daemon/front/base/caller_audit.hpp"
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/base/event_stream.hpp"
#include "daemon/front/base/news_round.hpp"
#include "daemon/front/base/outgoing_queue.hpp"
#include "daemon/front/base/seen_pins.hpp"
#include "daemon/front/base/turns.hpp"
#include "daemon/front/chat/chat_opening.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/transport/transport.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::daemon::rpc_door {

/// Returns a function that answers with `{}` once the journal has stored a record, or with its error.
std::function<void(result<void>)> answer_when_kept(mcp::server::reply_once reply);
/// Returns the reason why a run did not begin whose name another one has taken.
error begun_meanwhile(const std::string& run);

class rpc_caller final : public std::enable_shared_from_this<rpc_caller>,
                         public front::caller,
                         public mcp::transports::transport_events,
                         private mcp::server::caller_host,
                         private front::outgoing_queue::owner,
                         private front::news_round::outlet,
                         private front::event_stream::owner {
 public:
  /// `principal`: the identity of the caller (daemon/store/records/principal.hpp).
  rpc_caller(front::door_context& door, std::unique_ptr<mcp::transports::transport> transport, pid_t pid,
             std::string principal);
  ~rpc_caller() override;

  void start() override { transport_->start(*this); }
  void close(std::string_view why) override;

  void list_changed(const mcp::protocol::feature_kind& kind) override { session_.list_changed(kind); }
  void end_listens() override { session_.end_listens(true); }
  std::size_t outbox_bytes() const override { return outbox_.bytes(); }
  std::uint64_t taken_bytes() const override { return outbox_.taken(); }
  std::size_t open_requests() const override { return session_.open(); }
  void count_into(front::door_counters& counters) const override;
  bool closed() const noexcept { return closed_; }
  bool was_large() const override { return was_large_; }
  /// Returns the object of this key, which `make` makes if there is none. It is dropped when the connection ends, or
  /// one of more than 256 earlier.
  std::shared_ptr<void> kept_until_closed(const std::string& key, const std::function<std::shared_ptr<void>()>& make);
  /// Sets the name that the caller gave itself (mcpbx/hello), for logs and the audit.
  void set_name(std::string name) {
    name_ = std::move(name);
    if (scope_) scope_->set_label(who());
    if (audit_) audit_->set_name(name_);
  }
  /// Returns the scope of its calls; null once closed.
  mcp::callers::caller_session& session() noexcept { return session_; }
  std::shared_ptr<mcp::clients::question_handler> own_answers(const mcp::clients::server_question& q) override;
  bool lends(const mcp::clients::server_question& q) override;
  result<void> admit_read(const mcp::protocol::feature_kind& kind, std::string_view server,
                          std::string_view own) const override;
  bool uses_extensions() const override;
  result<void> admit_extension(std::string_view method) const override;
  std::shared_ptr<mcp::server::call_recorder> recorder() const override { return audit_; }
  /// Sets its working directory (mcpbx/hello), for servers that run there.
  void set_cwd(std::string cwd) {
    if (scope_) scope_->set_cwd(std::move(cwd));
  }
  /// Sets the profile of its runs and the tools that it sees and calls (mcpbx/hello). Later changes are refused.
  /// Returns true if it had another one; the caller is to be told by tell_other_tools() then.
  [[nodiscard]] bool set_profile(std::string name);
  /// Notifies that the tools have changed.
  void tell_other_tools();
  /// Restricts the caller to the methods of MCP (mcpbx/hello).
  void keep_to_mcp() noexcept { mcp_only_ = true; }
  const std::string& profile() const noexcept { return profile_; }
  /// Sets what its requests mean that do not say whether they answer questions (mcpbx/hello).
  void set_answers(bool answers) noexcept { answers_ = answers; }
  bool answers() const noexcept { return answers_; }

  // Functions for the handlers of its methods.
  front::door_context& door() const noexcept { return door_; }
  /// Returns the catalog as this caller sees it.
  mcp::catalogs::catalog_ptr tools() const override { return door_.tools_for(profile_); }
  const std::string& principal() const noexcept override { return principal_; }
  bool hears_of_others() const override;
  /// Returns the definitions that this caller was shown. Shared, because the answer may come after the caller has left.
  const std::shared_ptr<front::seen_pins>& seen_pins() const noexcept { return seen_pins_; }
  /// Starts a run, attaches to the one of that name, or continues one that waits for results. Events and the result go
  /// to `reply`; a detached run is answered at its start. A new run waits for `opening`.
  void chat(run::run_request r, chat::chat_opening opening, const mcp::server::reply_once& reply);
  /// Attaches to an existing run.
  void attach(const std::string& run, run::run_feed::wish w, const mcp::server::reply_once& reply);
  /// Cancels a run by its name, if this caller may end it.
  void cancel_run(const std::string& run, const mcp::server::reply_once& reply);
  /// Answers a question of a run that was started or attached to here; replies when the answer is stored.
  void answer(const std::string& run, std::string question, json::raw_json body, const mcp::server::reply_once& reply);
  /// Cancels an open request: a run ends with its result, other requests as by notifications/cancelled.
  bool cancel_request(const mcp::rpc::rpc_id& id, std::function<void(result<void>)> done);
  bool settled() const override { return door_.daemon.settled(); }
  /// Like backend::when_settled; `then` is not called if the connection has ended.
  void when_settled(milliseconds at_most, std::function<void()> then) override;

 private:
  // Implements transport_events.
  void on_message(mcp::rpc::message&& m) override;
  void on_fault(mcp::rpc::message_fault f) override;
  void on_drained() override;
  bool on_input_end() override;
  void on_closed(const error& why) override;
  // Implements caller_host.
  void send(const mcp::server::answered& what, const json::segments& text) override;
  void send_progress(std::uint64_t serial, const json::segments& text) override;
  void send_list_changed(const mcp::protocol::feature_kind& kind, const json::segments& text) override {
    outbox_.push_merged(std::string(kind.capability), text);
  }
  void send_ask(std::uint64_t about, const json::segments& text, mcp::rpc::outgoing what) override;
  void send_note(const mcp::server::note& n, const json::segments& text) override;
  time_source& time() override { return door_.time; }
  result<void> admit_call() const override;
  result<void> admit_call(const mcp::catalogs::catalog_entry& tool) const override;
  mcp::callers::held_calls* held() override { return &door_.held; }
  mcp::server::task_routes* tasks() override { return &door_.tasks; }
  mcp::clients::call_scope_ptr scope() const override { return scope_; }
  bool handle(std::string_view method, const json::raw_json& params, const mcp::server::reply_once& reply) override;
  std::vector<std::string_view> methods() const override {
    return mcp_only_ ? std::vector<std::string_view>() : door_.methods.names();
  }
  // Implements outgoing_queue::owner.
  void pause_reading(bool paused) override;
  void ask_flush() override;
  void on_stuck(const std::string& why) override;
  // Implements news_round::outlet.
  void deliver() override;
  // Implements event_stream::owner.
  void on_ready(const std::shared_ptr<front::event_stream>& stream, front::outgoing_queue::pace how) override;
  void on_end(front::event_stream& stream) override;

  void start_run(run::run_request r, const chat::chat_opening& opening, const mcp::server::reply_once& reply);
  bool has_room_for_stream(const mcp::server::reply_once& reply) const;
  bool exists(const run::run_request& r) const;
  std::string near_run(const std::string& run) const;
  bool has_room_for_run(const run::run_request& r, const mcp::server::reply_once& reply);
  result<void> check_name(const std::string& run) const;
  void open_run(run::run_request r, const chat::chat_opening& opening, const mcp::server::reply_once& reply);
  std::shared_ptr<opening_reads> opening_of(const std::string& run) const;
  std::size_t forget_openings();
  void end_openings(std::optional<std::uint64_t> serial);
  void start_detached(run::run_request r, const mcp::server::reply_once& reply);
  void open_stream(run::run_feed& feed, run::run_feed::wish w, const mcp::server::reply_once& reply);
  void watch_bytes();
  void in_turn(std::move_only_function<void()> work);
  void take_turn();
  bool done() const;
  std::string who() const;

  front::door_context& door_;
  std::unique_ptr<mcp::transports::transport> transport_;
  pid_t pid_;
  std::string principal_, name_, profile_;
  std::shared_ptr<mcp::clients::question_handler> own_answers_;  // null until a server asks this caller
  mcp::clients::call_scope_ptr scope_;                           // null once closed
  std::shared_ptr<front::caller_audit> audit_;                   // null: the audit is off
  std::shared_ptr<front::seen_pins> seen_pins_ = std::make_shared<front::seen_pins>();
  front::outgoing_queue outbox_;
  front::turns turns_;
  mcp::callers::caller_session session_;
  std::unordered_map<std::uint64_t, std::shared_ptr<front::event_stream>> streams_;  // by the serial of the request
  std::vector<std::weak_ptr<run::run_feed>> detached_;                               // detached runs started here
  std::vector<std::weak_ptr<opening_reads>> openings_;                               // runs that are about to begin
  std::map<std::string, std::shared_ptr<void>> kept_until_closed_;                   // by what they are for
  bool outbox_full_ = false, not_read_ = false;
  bool closed_ = false, was_large_ = false, mcp_only_ = false;
  bool answers_ = false;
  bool input_ended_ = false;  // the caller sends no more but still gets its answers
};

}  // namespace mcpbx::daemon::rpc_door
