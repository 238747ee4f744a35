// One MCP conversation with one tool server over one connection: finds out the era, opens it, keeps the lists of tools
// and other features, carries calls. Knows no I/O and no clock: messages and the time come in, messages and news go
// out. A shell (server_session) connects it to a process and a transport.
#pragma once
#include "mcp/client/catalog/list_hints.hpp"
#include "mcp/client/client.hpp"
#include "mcp/client/session/era_probe.hpp"
#include "mcp/client/session/kept_list.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/protocol/header_params.hpp"
#include "mcp/rpc/lost_request.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::session {

/// Interface of the connection that a conversation sends to.
class session_output {
 public:
  virtual ~session_output() = default;
  virtual void session_send(const json::segments& text, rpc::outgoing what) = 0;
  /// Returns the bytes that wait to be written. Answers to a server that does not read are dropped.
  virtual std::size_t session_unsent() const = 0;
};

/// News of a conversation. They come from inside its functions, so an implementation must not destroy it there.
class session_events {
 public:
  virtual ~session_events() = default;
  /// Reports that the conversation is open and the first list of each kind is here.
  virtual void session_ready() = 0;
  /// Reports that the conversation cannot be opened; the sentence names the server.
  virtual void session_refused(const error& why) = 0;
  /// Reports the items that the next list of this kind has left out, one clause each; with the first list and after
  /// changes.
  virtual void session_dropped(const protocol::feature_kind& kind, std::vector<std::string> why) = 0;
  /// Reports a list of this kind that differs from the one before. A server without this list reports an empty one
  /// first.
  virtual void session_list(const protocol::feature_kind& kind, protocol::feature_list list) = 0;
  /// Reports the declared capabilities, before the first lists.
  virtual void session_offers(const protocol::server_offers& offers) = 0;
  /// Reports the hints for the caching of the list of this kind, after each walk; nullopt: the server has no such list.
  virtual void session_hints(const protocol::feature_kind& kind, const std::optional<catalogs::told_hints>& hints) = 0;
  /// Reports that the server said that this list has changed, and that the new one is here: after session_list() if it
  /// differs, and also if it does not or could not be fetched.
  virtual void session_list_changed(const protocol::feature_kind& kind) = 0;
  /// Passes on a question of a legacy server: roots/list, sampling/createMessage or elicitation/create. It is answered
  /// by session_core::answer().
  virtual void session_asks(const rpc::rpc_id& id, std::string_view method, json::raw_json params) = 0;
  /// Reports that the server has cancelled its question.
  virtual void session_asks_no_more(const rpc::rpc_id& id) = 0;
  /// Passes on a notifications/resources/updated about a watched resource, without the mark of our subscription.
  virtual void session_updated(const json::raw_json& params) = 0;
  /// Reports the answer to the subscription to a watched resource: a result, the server's error, or the failure of a
  /// modern server to acknowledge the resource. May come again for the same resource.
  virtual void session_watched(const std::string& /*uri*/, const rpc::call_outcome& /*answer*/) {}
  /// Passes on a notifications/tasks about a watched task, without the mark of our subscription.
  virtual void session_task_told(const json::raw_json& /*params*/) {}
  /// The same as session_watched() for a task.
  virtual void session_task_watched(const std::string& /*id*/, const rpc::call_outcome& /*answer*/) {}
  /// Passes on a notifications/elicitation/complete or notifications/tasks/status.
  virtual void session_note(std::string_view method, const json::raw_json& params) = 0;
  /// Passes on a notification that session_core::options::extensions lets through.
  virtual void session_extension_note(std::string_view /*method*/, const json::raw_json& /*params*/) {}
  /// Passes on progress of a request that has ended, such as one that made a task.
  virtual void session_late_progress(rpc::call_number request, const json::raw_json& params) = 0;
  /// Reports the result of a request that nobody waits for any more.
  virtual void session_late_result(rpc::call_number request, const json::raw_json& result) = 0;
  /// Reports a problem that does not end the conversation, for the status; "" reports that it is over.
  virtual void session_problem(const std::string& what) = 0;
  /// Reports that the list that renew_headers() waited for is here, or cannot be had.
  virtual void session_headers_renewed() {}
  /// Passes on a notifications/message.
  virtual void session_log(const json::raw_json& params) = 0;
  /// Reports that the server seems to hang and should be restarted.
  virtual void session_hangs(const std::string& why) = 0;
};

class session_core {
 public:
  /// Bounds of the server's open questions.
  static constexpr std::size_t most_questions = 16, most_question_bytes = std::size_t{16} << 20;

  struct options {
    std::string server;                  ///< configured name, for messages
    json::raw_json own_info;             ///< mcpbx's Implementation object
    std::string protocol = "auto";       ///< "auto" or the one revision to speak
    milliseconds start_timeout{30'000};  ///< the probe waits a third of it, at most 5 s
    bool skip_probe = false;             ///< an earlier session found a legacy server
    feature_lister::options listing;
    protocol::feature_table kinds = protocol::feature_kinds();  ///< must outlive the session
    bool mirrors = false;                       ///< transport::mirrors(): the connection wants outgoing::facts
    protocol::extension_rules extensions = {};  ///< methods of the server that are passed on
  };
  session_core(options o, session_output& output, session_events& events);
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;

  /// Sends the first request.
  void begin(time_point now);
  void on_message(rpc::message&& m, time_point now);
  void on_fault(const rpc::message_fault& fault, time_point now);
  /// Asks for the tools again, because the server has refused the headers that their schemas ask for (2026-07-28,
  /// Streamable HTTP, "Client Behavior").
  void renew_headers(time_point now);
  /// Returns the request of ours in whose own stream the message came that is being handled; 0: not known.
  rpc::call_number spoken_in() const noexcept { return spoken_in_; }
  /// Returns true until the answer is here.
  bool headers_stale() const noexcept { return headers_stale_; }
  /// Ends a request that the connection brings no answer for.
  void on_lost(rpc::lost_request&& lost, time_point now);
  /// Handles everything that is due. Call it at next_deadline() or later.
  void tick(time_point now);
  time_point next_deadline() const;
  /// Ends every open request with this failure and everything else silently. Nothing is sent any more.
  void close(errc code, const std::string& why);
  /// Ends everything silently: reports and sends nothing more. Open requests have no outcome before close().
  void mute() noexcept { phase_ = phase::closed; }

  /// Sends a request, once ready(); limits and handlers of `c` are not used. Fails with errc::invalid_argument if its
  /// params cannot be edited. Failure texts are clauses.
  result<rpc::call_number> call(const clients::server_call& c, rpc::call_limits limits, time_point now,
                                rpc::pending_calls::done_handler done, rpc::pending_calls::progress_handler progress);
  /// Sends a request that belongs to no caller, once ready(). Failure texts are clauses.
  rpc::call_number own_request(std::string_view method, const json::raw_json& params, rpc::call_limits limits,
                               time_point now, rpc::pending_calls::done_handler done);
  /// Stops and continues the limits of an open call; see pending_calls.
  void pause(rpc::call_number number, time_point now) { pending_.pause(number, now); }
  void resume(rpc::call_number number, time_point now) { pending_.resume(number, now); }
  /// Answers a question of the server with a result, an error object, or an error that says the failure's text. Ignores
  /// questions that are not open.
  void answer(const rpc::rpc_id& question, rpc::call_outcome&& outcome);
  /// Tells a legacy server of progress of an answer, with the token of its question. Dropped if the question is not
  /// open or has no token, or the server does not read.
  void answer_progress(const rpc::rpc_id& question, const json::raw_json& params);
  /// Sets the resources whose updates are wanted, which need not be the same as before. A legacy server gets one
  /// resources/subscribe or /unsubscribe for each change, a modern one a new subscription with all of them, and with
  /// `tasks`, ids of tasks whose changes are wanted (extension io.modelcontextprotocol/tasks).
  void watch(const std::set<std::string, std::less<>>& uris, time_point now,
             const std::set<std::string, std::less<>>& tasks = {});
  /// Sets the lowest level of logs that a legacy server with logs is to send.
  void set_log_level(std::string_view level, time_point now);
  /// Sends the notification of a caller, once ready(). Dropped if the server does not read, or `_meta` is malformed.
  void notify(std::string_view method, const json::raw_json& params, time_point now);
  /// Replaces options::extensions; the named ones must be the same, since a legacy server has been told of them.
  void set_extensions(protocol::extension_rules rules);
  /// Returns the extensions that may bring this method of the server, sorted; none: it is not passed on.
  std::vector<std::string> extensions_of(std::string_view method) const {
    return protocol::extensions_with(options_.extensions.named, open_extensions_, method);
  }
  /// Tells a legacy server that has asked for roots that they have changed.
  void tell_roots_changed();
  /// Asks a modern server that reports no changes again for each list that is stale by its `ttlMs` (2026-07-28,
  /// caching). Until the answer comes, the old list stays.
  void lists_wanted(time_point now);
  /// Ends the call as cancelled and tells the server. Returns false if it had ended.
  bool cancel(rpc::call_number number, std::string_view reason);

  bool ready() const noexcept { return phase_ == phase::ready; }
  clients::era era() const noexcept { return era_; }
  const std::string& revision() const noexcept { return revision_; }
  /// Returns the server's instructions, printable, without secrets and at most 4 KiB, or "".
  const std::string& instructions() const noexcept { return instructions_; }
  /// Returns the method that the opening waits for, for "did not answer …" texts.
  std::string_view waits_for() const;
  /// Returns true if server/discover is the only request sent so far.
  bool probing() const noexcept { return phase_ == phase::probing; }
  std::uint64_t noise_lines() const noexcept { return noise_; }
  /// Returns a clause with the number of received lines that were no JSON-RPC and a quote of the first one, or "" if
  /// there was none.
  std::string junk_text() const;
  std::uint64_t dropped_answers() const noexcept {
    const auto& c = pending_.counts();
    return c.late + c.unknown + c.duplicate;
  }
  /// Returns the number of the server's requests that were dropped unanswered because it sent too many.
  std::uint64_t dropped_requests() const noexcept { return dropped_requests_; }
  const rpc::pending_calls::counters& counts() const noexcept { return pending_.counts(); }

 private:
  enum class phase : std::uint8_t { idle, probing, initializing, listing, ready, closed };
  /// Limits of requests that other rules end: the start time-out, check_until_, or the server itself.
  static constexpr rpc::call_limits no_limits{milliseconds::max(), milliseconds::max()};

  // Opening (session_opening.cpp)
  void discover();
  void await_probe();
  void on_discover(rpc::call_outcome outcome);
  void decide(const probe_verdict& verdict);
  void probe_was_silent();
  void initialize_was_silent();
  void initialize(std::string_view revision);
  void on_initialize(const rpc::call_outcome& outcome);
  void opened(clients::era e, std::string revision, const json::raw_json& capabilities,
              const json::raw_json& instructions);
  void refuse(std::string what);

  // Lists (session_lists.cpp)
  void ask_page(kept_list& list);
  void on_page(kept_list& list, const rpc::call_outcome& outcome);
  rpc::call_limits limits_of_page(const protocol::feature_kind& kind) const;
  bool is_page(rpc::call_number request) const;
  bool is_unknown_list(const protocol::feature_kind& kind, const rpc::call_outcome& outcome) const;
  void list_ended(kept_list& list);
  void headers_known(const kept_list& list);
  void list_failed(kept_list& list, const std::string& why);
  void publish(kept_list& list);
  void on_list_changed(const rpc::message& m);
  void end_told(const protocol::feature_kind& kind);
  void pump();

  // Subscriptions (session_watches.cpp)
  bool may_listen() const;
  bool of_subscription(const json::raw_json& params) const;
  json::raw_json without_mark(const json::raw_json& params) const;
  void open_listen();
  void listen_acknowledged(rpc::call_number listen, const json::raw_json& params);
  void tell_watched(const rpc::call_outcome& answer);
  bool watches() const noexcept { return !watched_.empty() || !watched_tasks_.empty(); }
  void listen_ended(rpc::call_number listen, const rpc::call_outcome& outcome);
  void end_listen(rpc::call_number listen, std::string_view why);
  void listen_again();
  bool reopens() const noexcept { return former_listen_ != 0; }
  void subscribe(const std::string& uri, bool on);

  // Questions of the server (session_questions.cpp)
  void on_question(const rpc::message& m);
  bool on_question_cancelled(const json::raw_json& params);
  json::raw_json own_capabilities(std::string_view revision) const;

  // Messages (session_core.cpp)
  void check_life();
  void lives() noexcept { check_until_ = never; }
  void note_junk(const rpc::message_fault& fault);
  void on_response(rpc::message&& m);
  void on_request(const rpc::message& m);
  void on_notification(const rpc::message& m);
  bool may_log();  // call it before composing a costly text: true counts as one line
  void log_now(const std::string& what) const;
  void log_sometimes(const std::string& what);
  void send_cancelled(rpc::call_number number, std::string_view reason);
  /// The thing that a request asks for, for facts about it.
  struct subject {
    std::string_view name;  // of it at the server; "": as the params say
    json::raw_json params;  // of the request's caller; absent: a request of ours
  };
  void send_request(rpc::call_number number, std::string_view method, const json::segments& params,
                    const subject& about);
  rpc::call_number request(std::string_view method, const json::raw_json& params, rpc::call_limits limits,
                           rpc::pending_calls::done_handler done, const json::raw_json& capabilities = {});
  std::string failure_text(const rpc::call_outcome& outcome) const;

  options options_;
  session_output& output_;
  session_events& events_;
  rpc::pending_calls pending_;
  phase phase_ = phase::idle;
  clients::era era_ = clients::era::unknown;
  std::string revision_, instructions_;
  protocol::server_offers offers_;
  std::vector<std::string> open_extensions_;  // of the server, by options::extensions
  time_point now_{};
  protocol::written_meta written_meta_;

  rpc::call_number probe_ = 0, initialize_ = 0;
  int probes_ = 0;
  time_point first_lists_until_ = never;         // then the first lists of other kinds than tools count as failed
  time_point fallback_at_ = never;               // end of the wait for the probe, or for initialize behind a late probe
  std::string handshake_failure_;                // failure of initialize, kept while the probe is still open
  bool says_modern_ = false;                     // it has refused initialize and named a modern revision
  std::optional<rpc::call_outcome> late_probe_;  // outcome of the probe that came after initialize had been sent

  bool headers_stale_ = false;
  rpc::call_number spoken_in_ = 0;
  protocol::header_params_of_tools
      mirrored_;                  // by tool, of those whose schema asks for it; empty unless options::mirrors
  std::vector<kept_list> lists_;  // one for each kind, in the order of the table
  std::optional<feature_lister::depth_limit> page_limit_;  // exceeded by the page that is being handled

  rpc::call_number listen_ = 0;         // the subscription of a modern server
  rpc::call_number former_listen_ = 0;  // the one before, which stays until the new one is acknowledged
  time_point listen_at_ = never;        // time to open it
  time_point listen_since_{}, acknowledged_until_ = never;
  std::set<std::string, std::less<>> unanswered_;  // resources of the subscription that is not acknowledged
  std::set<std::string, std::less<>> refused_;     // watched resources that a legacy server has refused
  int listens_failed_ = 0;
  bool listen_stale_ = false;                   // the one being opened has an old set of resources
  bool uris_refused_ = false;                   // the server refuses a subscription to these resources
  std::set<std::string, std::less<>> watched_;  // resources whose updates are wanted
  std::set<std::string, std::less<>> watched_tasks_, unanswered_tasks_;
  std::string log_level_;

  struct question {
    rpc::rpc_id id;
    std::size_t bytes = 0;
    json::raw_json token;        // of its progress, or absent
    rpc::call_number about = 0;  // the request in whose stream it came
  };
  std::map<std::string, question, std::less<>> questions_;  // open ones, by key of the id
  std::size_t question_bytes_ = 0;
  bool asked_roots_ = false;

  int timeouts_in_row_ = 0;
  rpc::call_number next_in_row_ = 0;  // calls with lower numbers waited beside the time-out counted last
  rpc::call_number check_ = 0;        // the request that asks for a sign of life, until it is answered
  time_point check_until_ = never;    // time at which a silent server counts as one that hangs
  rate_limit answers_{50, 64}, log_lines_{5, 20};
  std::uint64_t junk_ = 0;  // lines that were no JSON-RPC
  std::string first_junk_;  // for people
  std::uint64_t noise_ = 0, dropped_requests_ = 0;
};

}  // namespace mcpbx::mcp::session
