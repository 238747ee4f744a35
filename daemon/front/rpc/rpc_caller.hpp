// One caller: its transport, its outbox, its MCP session and its runs, tied together.
#pragma once
#include "daemon/front/base/caller.hpp"
#include "daemon/front/base/caller_audit.hpp"
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/base/event_stream.hpp"
#include "daemon/front/base/outgoing_queue.hpp"
#include "daemon/front/base/seen_pins.hpp"
#include "daemon/front/base/turns.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/transport/transport.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::daemon {

/// The reply to what the journal keeps: `{}` when it has, else why it has not.
std::function<void(result<void>)> answer_when_kept(mcp::reply_once reply);

class rpc_caller final : public std::enable_shared_from_this<rpc_caller>,
                         public caller,
                         public mcp::transport_events,
                         private mcp::caller_host,
                         private outgoing_queue::owner,
                         private event_stream::owner {
 public:
  /// `principal`: whom the caller stands for (daemon/store/records/principal.hpp).
  rpc_caller(door_context& door, std::unique_ptr<mcp::transport> transport, pid_t pid, std::string principal);
  ~rpc_caller() override;

  void start() override { transport_->start(*this); }
  void close(std::string_view why) override;

  void list_changed(const mcp::feature_kind& kind) override { session_.list_changed(kind); }
  std::size_t outbox_bytes() const override { return outbox_.bytes(); }
  std::uint64_t taken_bytes() const override { return outbox_.taken(); }
  std::size_t open_requests() const override { return session_.open(); }
  void count_into(door_counters& counters) const override;
  bool closed() const noexcept { return closed_; }
  bool was_large() const override { return was_large_; }
  /// What the caller calls itself (mcpbx/hello), for logs and the audit.
  void set_name(std::string name) {
    name_ = std::move(name);
    if (audit_) audit_->set_name(name_);
  }
  /// From now on its runs have this profile, and it sees and calls only the profile's tools (mcpbx/hello). For good: it
  /// takes no other one.
  void set_profile(std::string name);
  /// From now on it has the methods of MCP only (mcpbx/hello).
  void keep_to_mcp() noexcept { mcp_only_ = true; }
  const std::string& profile() const noexcept { return profile_; }

  // For the handlers of its methods.
  door_context& door() const noexcept { return door_; }
  /// What this caller sees of the catalog.
  mcp::catalog_ptr tools() const override { return door_.tools_for(profile_); }
  const std::string& principal() const noexcept { return principal_; }
  /// Which definitions this caller was shown. The one that asks may be gone when they are told.
  const std::shared_ptr<daemon::seen_pins>& seen_pins() const noexcept { return seen_pins_; }
  /// Whether the run of this name may be followed and ended from here. For the person also one that is not there.
  bool may_have_run(std::string_view run) const;
  /// Starts a run, attaches to the one of that name, or goes on with one that waits for results. Its events and its
  /// result go to the request that `reply` answers; a detached run's start is the answer.
  void chat(run_request r, const mcp::reply_once& reply);
  /// The same for a run that exists.
  void attach(std::string_view run, run_feed::wish w, const mcp::reply_once& reply);
  /// For a request that names a run: `then` comes when it is here, or would be if an earlier daemon had left it or an
  /// earlier request were to begin it. Where
  /// that cannot be told the request is answered with the reason; when it or the connection is gone, nothing comes.
  void when_known(const std::string& run, const mcp::reply_once& reply, std::function<void()> then);
  /// Answers with `why`. When it says that there is no run of this name, the journal is asked first whether another
  /// daemon has it.
  void refuse(const error& why, const std::string& run, const mcp::reply_once& reply);
  void unless_owned(const std::string& run, const mcp::reply_once& reply, std::function<void()> then);
  /// Answers a question of a run that was started here or attached to; the reply comes when the answer is kept.
  void answer(const std::string& run, std::string question, raw_json body, const mcp::reply_once& reply);
  /// Cancels an open request: a run ends with its result, anything else as notifications/cancelled says.
  bool cancel_request(const mcp::rpc_id& id, std::function<void(result<void>)> done);
  /// As backend::when_settled; `then` does not come when the connection is gone by then.
  void when_settled(milliseconds at_most, std::function<void()> then) override;

 private:
  // transport_events
  void on_message(mcp::message&& m) override;
  void on_fault(mcp::message_fault f) override;
  void on_drained() override;
  bool on_input_end() override;
  void on_closed(const error& why) override;
  // caller_host
  void send(const segments& text) override;
  void send_progress(std::uint64_t serial, const segments& text) override;
  void send_list_changed(const mcp::feature_kind& kind, const segments& text) override {
    outbox_.push_list_changed(kind.changed, text);
  }
  void send_ask(std::uint64_t about, const segments& text, mcp::outgoing what) override;
  time_source& time() override { return door_.time; }
  result<void> admit_call() const override;
  result<void> admit_call(const mcp::catalog_entry& tool) const override;
  std::shared_ptr<mcp::call_recorder> recorder() const override { return audit_; }
  bool handle(std::string_view method, const raw_json& params, const mcp::reply_once& reply) override;
  std::vector<std::string_view> methods() const override {
    return mcp_only_ ? std::vector<std::string_view>() : door_.methods.names();
  }
  // outgoing_queue::owner
  void pause_reading(bool paused) override;
  void ask_flush() override;
  void on_stuck(const std::string& why) override;
  // event_stream::owner
  void on_ready(const std::shared_ptr<event_stream>& stream, outgoing_queue::pace how) override;
  void on_end(event_stream& stream) override;

  void recall(const std::string& run, std::uint64_t likeness, const mcp::reply_once& reply,
              std::function<void(const result<runner::recalled_run>&)> then);
  void chat_by_name(run_request r, const mcp::reply_once& reply);
  void start_run(run_request r, const mcp::reply_once& reply);
  bool has_room_for_stream(const mcp::reply_once& reply) const;
  bool exists(const run_request& r) const;
  bool has_room_for_run(const run_request& r, const mcp::reply_once& reply);
  void start_detached(run_request r, const mcp::reply_once& reply);
  void open_stream(run_feed& feed, run_feed::wish w, const mcp::reply_once& reply);
  void watch_bytes();
  void in_turn(std::move_only_function<void()> work);
  void take_turn();
  bool done() const;
  std::string who() const;

  door_context& door_;
  std::unique_ptr<mcp::transport> transport_;
  pid_t pid_;
  std::string principal_, name_, profile_;
  std::shared_ptr<caller_audit> audit_;  // null: off
  std::shared_ptr<daemon::seen_pins> seen_pins_ = std::make_shared<daemon::seen_pins>();
  outgoing_queue outbox_;
  turns turns_;
  mcp::caller_session session_;
  std::unordered_map<std::uint64_t, std::shared_ptr<event_stream>> streams_;  // by the serial of the request
  std::vector<std::weak_ptr<run_feed>> detached_;                             // of runs that were started here
  bool outbox_full_ = false, not_read_ = false;
  bool closed_ = false, was_large_ = false, mcp_only_ = false;
  bool input_ended_ = false;  // the caller says no more, and still gets its answers
};

}  // namespace mcpbx::daemon
