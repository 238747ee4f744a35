// One MCP conversation with one tool server over one connection: finds out the era, opens it, keeps the lists of
// tools and other features, carries calls. Knows no I/O and no clock: messages and the time come in, messages and news
// go out. A shell (server_session) brings it together with a process and a transport.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/client/session/era_probe.hpp"
#include "mcp/client/session/kept_list.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

/// What a conversation needs of its connection.
class session_output {
 public:
  virtual ~session_output() = default;
  virtual void session_send(const segments& text, outgoing what) = 0;
  /// Bytes that wait to be written; answers to a server that does not read are dropped.
  virtual std::size_t session_unsent() const = 0;
};

/// What a conversation tells. Called from inside its functions: an implementation must not destroy it there.
class session_events {
 public:
  virtual ~session_events() = default;
  /// It is open and the first list of each kind is in.
  virtual void session_ready() = 0;
  /// It cannot be opened; the sentence names the server.
  virtual void session_refused(const error& why) = 0;
  /// What the list of this kind that comes next has left out, one clause each; told with the first list and when it
  /// changes.
  virtual void session_dropped(const feature_kind& kind, std::vector<std::string> why) = 0;
  /// Another list of this kind than before. The first one comes also where the server has none: it is empty.
  virtual void session_list(const feature_kind& kind, feature_list list) = 0;
  /// Something went wrong that does not end the conversation, for the status.
  virtual void session_problem(const std::string& what) = 0;
  /// notifications/message
  virtual void session_log(const raw_json& params) = 0;
  /// The server seems to hang and should be restarted.
  virtual void session_hangs(const std::string& why) = 0;
};

class session_core {
 public:
  struct options {
    std::string server;                  ///< configured name, for texts
    raw_json own_info;                   ///< mcpbx's Implementation object
    std::string protocol = "auto";       ///< or the one revision to speak
    milliseconds start_timeout{30'000};  ///< the probe waits a third of it, 5 s at most
    bool skip_probe = false;             ///< an earlier life of this server was found to be a legacy one
    feature_lister::options listing;
    feature_table kinds = feature_kinds();  ///< must outlive the session
  };
  session_core(options o, session_output& output, session_events& events);
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;

  /// Sends the first request.
  void begin(time_point now);
  void on_message(message&& m, time_point now);
  void on_fault(const message_fault& fault, time_point now);
  /// To be called at next_deadline() or later.
  void tick(time_point now);
  time_point next_deadline() const;
  /// Ends every open request with this failure and everything else silently; nothing is sent any more.
  void close(errc code, const std::string& why);
  /// Ends everything silently: nothing is told or sent any more, and open requests have no outcome before close().
  void mute() noexcept { phase_ = phase::closed; }

  /// Sends a request once ready(): what `c` says but for its limits and handlers. errc::invalid_argument when its
  /// params cannot be edited. Failure texts are clauses.
  result<call_number> call(const server_call& c, call_limits limits, time_point now, pending_calls::done_handler done,
                           pending_calls::progress_handler progress);
  /// Somebody wants the lists. A modern server that does not tell of changes is asked again for each that is stale by
  /// its `ttlMs` (2026-07-28, caching); until the answer is there, the list is what it was.
  void lists_wanted(time_point now);
  /// The call ends as cancelled and the server is told. False if it had ended.
  bool cancel(call_number number, std::string_view reason);

  bool ready() const noexcept { return phase_ == phase::ready; }
  mcp::era era() const noexcept { return era_; }
  const std::string& revision() const noexcept { return revision_; }
  /// What the opening waits for, for "did not answer …" texts.
  std::string_view waits_for() const;
  /// The server was asked server/discover and nothing else yet.
  bool probing() const noexcept { return phase_ == phase::probing; }
  std::uint64_t noise_lines() const noexcept { return noise_; }
  std::uint64_t dropped_answers() const noexcept {
    const auto& c = pending_.counts();
    return c.late + c.unknown + c.duplicate;
  }
  /// Requests of the server that were dropped unanswered because it sent too many.
  std::uint64_t dropped_requests() const noexcept { return dropped_requests_; }
  const pending_calls::counters& counts() const noexcept { return pending_.counts(); }

 private:
  enum class phase : std::uint8_t { idle, probing, initializing, listing, ready, closed };
  /// For requests that other rules end: the start time-out, or the server itself.
  static constexpr call_limits no_limits{milliseconds::max(), milliseconds::max()};

  // Opening (session_opening.cpp)
  void discover();
  void on_discover(call_outcome outcome);
  void decide(const probe_verdict& verdict);
  void probe_was_silent();
  void initialize(std::string_view revision);
  void on_initialize(const call_outcome& outcome);
  void opened(mcp::era e, std::string revision, const raw_json& capabilities);
  void refuse(std::string what);

  // Lists (session_lists.cpp)
  void ask_page(kept_list& list);
  void on_page(kept_list& list, const call_outcome& outcome);
  void list_ended(kept_list& list);
  void list_failed(kept_list& list, const std::string& why);
  void publish(kept_list& list);
  void on_list_changed(const message& m);
  bool may_listen() const;
  void open_listen();
  void listen_ended(const call_outcome& outcome);
  void pump();

  // Messages (session_core.cpp)
  void on_response(message&& m);
  void on_request(const message& m);
  void on_notification(const message& m);
  bool may_log();  // asked before words are made that cost something; counts as a line
  void log_now(const std::string& what) const;
  void log_sometimes(const std::string& what);
  void send_cancelled(call_number number, std::string_view reason);
  call_number request(std::string_view method, const raw_json& params, call_limits limits,
                      pending_calls::done_handler done);
  std::string failure_text(const call_outcome& outcome) const;

  options options_;
  session_output& output_;
  session_events& events_;
  pending_calls pending_;
  phase phase_ = phase::idle;
  mcp::era era_ = mcp::era::unknown;
  std::string revision_;
  time_point now_{};

  call_number probe_ = 0, initialize_ = 0, listen_ = 0;
  int probes_ = 0;
  time_point fallback_at_ = never;          // when the silence after the probe means a legacy server
  std::string handshake_failure_;           // why initialize failed, while the probe has the last word
  std::optional<call_outcome> late_probe_;  // what the probe gave after initialize had been sent

  std::vector<kept_list> lists_;  // of each kind, in the order of the table
  time_point listen_at_ = never, listen_since_{};
  int listens_failed_ = 0;

  int timeouts_in_row_ = 0;
  call_number next_in_row_ = 0;  // earlier calls waited beside the one that was counted last
  rate_limit answers_{50, 64}, log_lines_{5, 20};
  std::uint64_t noise_ = 0, dropped_requests_ = 0;
};

}  // namespace mcpbx::mcp
