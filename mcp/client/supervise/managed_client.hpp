// One configured tool server: the client that callers use, over any number of sessions. The shell around
// supervisor_core; holds the calls, their queue and the status.
#pragma once
#include "mcp/client/deferred.hpp"
#include "mcp/client/supervise/call_course.hpp"
#include "mcp/client/supervise/call_meter.hpp"
#include "mcp/client/supervise/note_book.hpp"
#include "mcp/client/supervise/question_desk.hpp"
#include "mcp/client/supervise/server_session.hpp"
#include "mcp/client/supervise/server_watches.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/client/supervise/supervisor_core.hpp"
#include "mcp/support/recycled.hpp"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::supervise {

class managed_client;

/// Interface of the owner of all servers.
class server_host {
 public:
  virtual ~server_host() = default;
  /// Reports the items that its list of this kind has left out, one clause each.
  virtual void server_dropped(const managed_client& s, const protocol::feature_kind& kind,
                              std::vector<std::string> why) = 0;
  virtual void server_list(const managed_client& s, const protocol::feature_kind& kind,
                           protocol::feature_list list) = 0;
  /// Reports that the server has declared its capabilities; they are offers() of the client.
  virtual void server_offered(const managed_client& s) = 0;
  /// See session_events::session_hints().
  virtual void server_hints(const managed_client& s, const protocol::feature_kind& kind,
                            const std::optional<catalogs::told_hints>& hints) = 0;
  /// Reports that the server said that a list of this kind has changed. Comes once the new list is here, after
  /// server_list() if it differs, and also if it does not.
  virtual void server_list_changed(const managed_client& s, const protocol::feature_kind& kind) = 0;
  /// Counts this end of a server. Returns the number of other servers that have ended just before.
  virtual std::size_t server_ended(const managed_client& s) = 0;
  /// Reports that its state may have changed.
  virtual void server_moved() = 0;
};

/// The parts that all servers share. The references must outlive every server.
struct server_context {
  time_source& time;
  random_source& random;
  server_host& host;
  supervisor::options options;
  std::shared_ptr<clients::deferred> soon;
  /// Counts the calls; null: each server has one of its own.
  std::shared_ptr<call_meter> meter = {};
};

class managed_client final : public clients::client,
                             private server_session_events,
                             public std::enable_shared_from_this<managed_client> {
 public:
  managed_client(server_options o, server_context context);
  ~managed_client() override;
  managed_client(const managed_client&) = delete;
  managed_client& operator=(const managed_client&) = delete;

  // client
  const std::string& name() const override { return options_.name; }
  clients::era era() const override { return era_; }
  std::string_view instructions() const override { return instructions_; }
  ticket call(clients::server_call&& c) override;
  void cancel(ticket t, std::string_view reason) override;
  time_point next_start() const override { return core_.next_try(); }
  const protocol::server_offers& offers() const override { return offers_; }
  clients::watch watch_resource(std::string_view uri, std::function<void(const json::raw_json&)> updated,
                                clients::watch_decided decided = {}) override;
  clients::watch watch_task_of(const clients::call_scope_ptr& scope, std::string_view id,
                               std::function<void(const json::raw_json&)> told,
                               clients::watch_decided decided) override;
  clients::watch watch_logs(std::string_view level, std::function<void(const json::raw_json&)> logged) override;
  clients::watch watch_extensions(clients::extension_note_handler told) override;
  void notify(const clients::call_scope_ptr& scope, std::string_view method, const json::raw_json& params) override;
  const std::string& log_subject() const override { return log_subject_; }
  void roots_changed() override;

  const server_options& configured() const noexcept { return options_; }
  /// Names the caller or run that this process is of, before start().
  void serve(const clients::call_scope_ptr& scope) { scope_ = scope; }
  void start();
  /// Takes settings that need no restart: limits of calls, and the tools' filter and names.
  void adjust(server_options o);
  /// Starts a lazy server whose tools are not known yet; asks a running one again for a stale list.
  void wake_to_list();
  void restart();
  void retry_now(std::size_t crowd);
  /// Refuses new calls, lets running ones end for `grace`, then ends the connection. `why` is a clause for refused and
  /// cut calls. A second stop can only shorten the grace.
  void stop(milliseconds grace, std::string why);
  /// Returns true once stop() is complete.
  bool ended() const noexcept { return core_.ended(); }
  /// Returns true while the server is starting for the first time.
  bool settling() const noexcept;
  std::size_t open_calls() const noexcept { return calls_.size(); }
  clients::server_state state() const noexcept { return core_.state(); }
  clients::server_status status() const;
  /// Reports nothing to anybody any more.
  void drop();

 private:
  struct open_call {
    clients::server_call call;
    rpc::call_limits limits;
    time_point since;                          // arrival, or begin of the wait for the server to be ready again
    bool sent = false;                         // false: it waits in the queue
    rpc::call_number number = 0;               // of the request that is open at the server; 0: none is
    bool headers_renewed = false;              // the server has refused its headers before
    int comebacks = 0;                         // times that it came back unseen
    bool wants_task = false;                   // its caller takes a task as its result
    bool takes_others = false;                 // its caller takes results of types that an extension defines
    std::unique_ptr<call_course> course = {};  // of a call that may need more than one request
  };
  // A call that has not been sent.
  struct waiting_call {
    ticket t = 0;
    std::size_t bytes = 0;
    const void* asker = nullptr;
    bool operator==(ticket other) const noexcept { return t == other; }
  };

  /// The event after which the last error is over.
  enum class recovery : std::uint8_t {
    ready,   ///< an answered call, or a minute of being ready
    answer,  ///< an answered call
    list     ///< a list of the right shape
  };

  // Calls (managed_client_calls.cpp)
  std::optional<error> refusal(const clients::server_call& c, time_point now);
  bool has_share_left(const clients::server_call& c) const;
  bool up() const { return session_ && session_->ready(); }
  bool has_room() const;
  time_point waits_until(const open_call& r) const;
  void dispatch(ticket t, open_call& r, time_point now);
  void dispatch_waiting(time_point now);
  void call_ended(ticket t, rpc::call_outcome&& outcome);
  void conclude(ticket t, rpc::call_outcome&& outcome);
  result<rpc::call_number> send(ticket t, open_call& r, rpc::call_limits limits, time_point now);
  void fail_soon(ticket t, rpc::call_outcome&& outcome);
  void tell_later(clients::server_call& c);
  void end_unsent_rounds(const std::string& why);
  bool send_again(ticket t);
  bool wants_headers_renewed(open_call& r, const json::raw_json& error) const;
  void call_progress(ticket t, const json::raw_json& params);
  using ticketed_call = recycling_map<ticket, open_call>::value_type;
  const ticketed_call* call_spoken_in() const;
  const open_call* logging_call() const;
  void expire_waiting(time_point now);
  void fail_later(clients::server_call& c, error why);
  void fail_waiting(const error& why);
  void told(clients::server_call& c, rpc::call_outcome&& outcome);
  void note_load(time_point now);
  void settle_down();

  // Questions of a legacy server (managed_client_questions.cpp)
  void session_asks(const rpc::rpc_id& id, std::string_view method, json::raw_json params) override;
  void session_asks_no_more(const rpc::rpc_id& id) override;
  void session_note(std::string_view method, const json::raw_json& params) override;
  void note_principal(const clients::server_call& c);
  void note_unanswered();
  void forget_questions(std::string_view why);
  struct asked_by {
    ticket call = 0;
    bool guessed = false;  // nothing says that it is this call
  };
  result<asked_by> asked_call(const clients::server_question& q) const;
  ticket latest_call(const clients::server_question& q) const;
  struct task_owner {
    std::string task, principal;
    const void* asker = nullptr;  // used if no principal is told
    time_point until{};           // it may be at work until then
  };
  ticket latest_call_of(const task_owner& owner) const;
  ticket call_before(ticket ended, const clients::server_call& of) const;
  void pose(asked_by by, const rpc::rpc_id& id, clients::server_question q);
  void move_questions(ticket ended, const clients::server_call& of);
  void refuse_question(const rpc::rpc_id& id, std::string_view method, std::string why);
  bool ask_scope(const rpc::rpc_id& id, const clients::server_question& q);
  void ask(ticket t, clients::server_question q, question_desk::done_handler done);
  void pause(ticket t);
  void resume(ticket t);
  void remember_notes(const clients::server_call& c, const rpc::call_outcome& outcome, bool wants_task);
  void remember_owner(const clients::server_call& c, const rpc::call_outcome& outcome);
  void note_task_state(const json::raw_json& task);

  // Rounds of a call at a modern server (managed_client_inputs.cpp)
  void begin_course(open_call& r, time_point now);
  bool may_ask(const clients::server_call& c) const;
  static bool wants_input(const json::raw_json& result);
  bool asks_for_input(const open_call& r, const json::raw_json& result) const;
  bool speaks_again(open_call& r, const json::raw_json& error) const;
  void begin_inputs(ticket t, json::raw_json result);
  void input_answered(ticket t, int round, std::size_t index, rpc::call_outcome&& outcome);
  void next_round(ticket t);

  // Tasks that are run to their end here (managed_client_task_runs.cpp)
  void read_task_tools(const std::vector<protocol::feature_item>& tools);
  bool needs_task(const clients::server_call& c) const;
  json::raw_json with_task(const open_call& r) const;
  void task_created(ticket t, const json::raw_json& result);
  void poll_task(ticket t, open_call& r, time_point now);
  void task_told(ticket t, rpc::call_number poll, rpc::call_outcome&& outcome);
  void fetch_result(ticket t, open_call& r, time_point now);
  void cancel_task(const std::string& id);
  void leave_task(open_call& r, std::string_view why);
  void tick_tasks(time_point now);
  time_point next_task_time() const;
  void session_late_progress(rpc::call_number request, const json::raw_json& params) override;
  void session_late_result(rpc::call_number request, const json::raw_json& result) override;

  // Watches (managed_client_watches.cpp)
  void session_updated(const json::raw_json& params) override;
  void session_watched(const std::string& uri, const rpc::call_outcome& answer) override;
  void session_task_told(const json::raw_json& params) override;
  void session_task_watched(const std::string& id, const rpc::call_outcome& answer) override;
  clients::watch watch_in(server_watches& all, std::string_view key, std::function<void(const json::raw_json&)> told,
                          clients::watch_decided decided);
  void hold_watches();
  void tell_decided(server_watches::audience to, const rpc::call_outcome& answer);
  void deliver_updates(time_point now);
  void watch_now();
  void watches_changed();
  void sync_watches();

  // Life (managed_client.cpp)
  void session_not_opened(const connect::link_failure& failure) override;
  void session_ended(const std::string& how) override;
  void session_expired(const std::string& how) override;
  void session_lost(const std::string& why) override;
  void session_settled() override;
  void session_ready() override;
  void session_refused(const error& why) override;
  void session_dropped(const protocol::feature_kind& kind, std::vector<std::string> why) override;
  void session_list(const protocol::feature_kind& kind, protocol::feature_list list) override;
  void session_offers(const protocol::server_offers& offers) override;
  void session_hints(const protocol::feature_kind& kind, const std::optional<catalogs::told_hints>& hints) override {
    context_.host.server_hints(*this, kind, hints);
  }
  void session_list_changed(const protocol::feature_kind& kind) override {
    context_.host.server_list_changed(*this, kind);
  }
  void session_problem(const std::string& what) override;
  void session_log(const json::raw_json& params) override;
  void session_extension_note(std::string_view method, const json::raw_json& params) override;
  void session_headers_renewed() override { dirty_ = true; }
  void session_hangs(const std::string& why) override { session_lost("hangs: " + why); }
  void drive();
  void obey(supervisor_core::command command, time_point now);
  void open();
  void end_session(const std::string& why);
  void drop_session();
  void tick();
  void rearm();
  void arm_for(time_point when);
  void stop_now(time_point now);
  std::string who() const { return "tool server \"" + options_.name + "\""; }
  void failed(std::string why, recovery by = recovery::ready);
  void recovered(recovery how);
  bool well_again() const;
  std::string with_last_words(std::string text) const;
  std::string junk() const;
  std::string down_text(time_point now) const;

  server_options options_;
  server_context context_;
  supervisor_core core_;
  std::shared_ptr<call_meter> meter_;
  std::unique_ptr<connect::connector> connector_;  // null: the server cannot be reached
  std::unique_ptr<server_session> session_;
  std::unique_ptr<timer> timer_;
  time_point armed_at_ = never;

  recycling_map<ticket, open_call> calls_;
  std::deque<waiting_call> waiting_;
  std::size_t waiting_bytes_ = 0, running_ = 0;
  ticket last_ticket_ = 0;

  std::shared_ptr<question_desk> desk_;
  struct posed_question {
    question_desk::number number = 0;
    rpc::rpc_id id;
    clients::server_question what;  // kept if it may have to go on with another call
    bool guessed = false;
  };
  std::map<std::string, posed_question, std::less<>> questions_;  // of a legacy server, by key of its id
  std::deque<task_owner> task_owners_;                            // of tasks that callers have made, oldest first
  std::string principal_;        // of the calls since the server was last idle; "": not told
  const void* asker_ = nullptr;  // the same, if no principal was told
  bool principals_mixed_ = false;
  time_point lingers_until_{};  // until then calls that have ended may still be at work in the server
  note_book notes_;
  note_book late_progress_;                        // of calls that have made a task, by the number of their request
  std::weak_ptr<clients::call_scope> scope_;       // of a process that is not shared
  std::uint64_t sessions_ = 0;                     // number of those that are over
  std::vector<ticket> task_runs_;                  // calls that run a task here
  std::vector<rpc::call_number> left_creations_;   // calls that ended while a task may have been made for them
  std::set<std::string, std::less<>> task_tools_;  // tools that are called as tasks only
  server_watches watches_;
  server_watches task_watches_;  // its resources are ids of tasks
  std::vector<std::weak_ptr<clients::extension_note_handler>> extension_watches_;
  std::string log_subject_;  // of the log, or the notification of an extension, that is being told

  protocol::server_offers offers_;
  clients::era era_ = clients::era::unknown;
  std::string revision_, instructions_, last_error_;
  std::int64_t last_error_ms_ = -1;
  recovery recovers_by_ = recovery::ready;
  std::array<std::size_t, 4> listed_items_{};            // by kind_id
  std::uint64_t noise_before_ = 0, dropped_before_ = 0;  // counts of earlier sessions
  time_point up_since_{};                                // start of the present session, once it is ready
  bool legacy_known_ = false, listed_ = false, attempted_ = false;
  bool suspect_ = false;  // as in server_status
  bool dirty_ = false, driving_ = false, stopping_ = false, dropped_ = false, watches_posted_ = false;
  time_point stop_at_ = never;
  std::string stop_why_ = "mcpbx is stopping";
};

/// Returns a time to wait for people: "250 ms", "3 s".
std::string wait_in_words(duration wait);

}  // namespace mcpbx::mcp::supervise
