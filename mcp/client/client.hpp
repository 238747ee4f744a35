// The interface of one tool server for the rest of mcpbx: calls with limits, cancellation and progress, whichever era
// the server speaks and however often it has been restarted.
#pragma once
#include "mcp/client/call_scope.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/server_offers.hpp"
#include "mcp/rpc/pending_calls.hpp"
#include "mcp/support/time.hpp"
#include "mcp/trace/trace_context.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::clients {

/// The two families of MCP revisions: `legacy` has the initialize handshake (2024-11-05 … 2025-11-25), `modern` is
/// stateless (2026-07-28).
enum class era : std::uint8_t { unknown, legacy, modern };
std::string_view to_string(era e);

/// State of a server as `mcpbx/servers` shows it.
enum class server_state : std::uint8_t { disabled, starting, ready, lazy, restarting, crash_loop, failed, stopped };
std::string_view to_string(server_state s);

/// The process of a server that has one.
struct process_status {
  pid_t pid = -1;           ///< -1: none runs
  std::string exit;         ///< end of the last one ("exit status 3"), or ""
  std::string stderr_tail;  ///< the last 4 KiB of its stderr, printable
};

/// The connection to a server that has an address.
struct remote_status {
  std::string address;    ///< without its query
  std::string transport;  ///< "streamable-http" or "sse"; "" before it is known
  /// The kind of the present trouble, or "": "unreachable", "refused", "unauthorized", "slow", "certificate",
  /// "protocol". last_error has the sentence.
  std::string problem;
};

/// Calls of a server that have ended. Recent ones are those of the latest 10 to 20 s.
struct call_counts {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;  ///< without an answer though not cancelled, with an error, or with a result that is one
  double per_second = 0;     ///< recent ones that were sent
  std::int64_t p50_us = -1, p95_us = -1;  ///< of recent ones, from arrival to end in microseconds; -1: there are none
};

/// One process of a server that is not shared.
struct instance_status {
  std::string of;  ///< its caller or run, as call_scope::label
  server_state state = server_state::stopped;
  pid_t pid = -1;  ///< -1: none runs
  std::size_t open_calls = 0;
  std::string last_error;  ///< as in server_status
};

/// One server as `mcpbx/servers` shows it (docs/guarantees.md, G8, G49).
struct server_status {
  std::string name;
  std::string command;  ///< server_options::command
  server_state state = server_state::stopped;
  era era = era::unknown;
  std::string revision;                                                       ///< negotiated MCP revision, or ""
  protocol::server_offers offers;                                             ///< capabilities that it declared last
  std::size_t tools = 0, prompts = 0, resources = 0, resource_templates = 0;  ///< items of its lists
  std::uint64_t restarts = 0;
  /// One sentence, or "" if none has occurred or the server is well again: it has answered a call since, or been ready
  /// for a minute; for the shape of a list: it has sent a right one.
  std::string last_error;
  std::int64_t last_error_ms = -1;        ///< time of last_error in milliseconds since 1970, -1: none
  std::optional<process_status> process;  ///< nullopt: no process of mcpbx belongs to it
  std::optional<remote_status> remote;    ///< nullopt: it has no address
  std::int64_t next_try_ms = -1;          ///< time until the next start, -1: none planned
  /// The last start failed (no program, not ready in time, refused), and the server has not been ready since; any start
  /// or restart now is a retry.
  bool start_failed = false;
  std::size_t open_calls = 0, queued_calls = 0;
  call_counts calls;
  std::uint64_t noise_lines = 0, dropped_answers = 0;
  /// A call timed out, or the server was restarted because it seemed to hang, and no call has been answered since.
  /// last_error has the reason.
  bool suspect = false;
  /// One sentence about definitions that differ from the approved ones (G37), or "".
  std::string pin_notice;
  std::size_t withheld = 0;  ///< tools that the server lists and mcpbx does not offer for that reason
  bool per_scope = false;    ///< each caller or run has an instance of its own; the members above count all of them
  std::vector<instance_status> instances = {};  ///< those that exist now, oldest first
};

/// The caller, as far as each request to a modern tool server must name it in `_meta` (docs/passing-on.md).
struct caller_context {
  json::raw_json client_info;   ///< the caller's clientInfo; absent: mcpbx's own
  json::raw_json capabilities;  ///< the caller's capabilities; absent: none
};

/// A question of a tool server, asked while it works on a call: a request of a legacy server, or one of the
/// inputRequests of a modern one.
struct server_question {
  std::string server;  ///< configured name
  /// "sampling/createMessage", "elicitation/create", "roots/list", or a method of an extension.
  std::string method;
  json::raw_json params;  ///< as the server sent them; may be absent
  /// Takes params of notifications/progress from the answerer, with any token, until the question has ended. Null: the
  /// server wants none.
  std::function<void(const json::raw_json& params)> progress = {};
  std::vector<std::string> extensions = {};  ///< the names of those that bring the method; none: MCP itself
  trace::trace_context trace = {};           ///< of the call that it belongs to, filled in by who made that; or none
};

/// Takes a notification of the extensions with these names, params as the server sent them.
using extension_note_handler = std::function<void(const std::vector<std::string>& extensions, std::string_view method,
                                                  const json::raw_json& params)>;

/// Interface that answers the questions that belong to a call. It must live until each question is answered or
/// withdrawn.
class question_handler {
 public:
  using ticket = std::uint64_t;  ///< names one question of one handler
  using done_handler = std::move_only_function<void(rpc::call_outcome&&)>;
  virtual ~question_handler() = default;
  /// Asks. Calls `done` once, never from inside ask(): with the result object for the server, with a JSON-RPC error
  /// object for it, or with a failure, which the server gets as an error.
  virtual ticket ask(server_question q, done_handler done) = 0;
  /// Returns true if somebody could answer such a question with more than a refusal, as far as is known before it is
  /// asked.
  virtual bool can_answer(const server_question& /*q*/) { return true; }
  /// Ends a question whose call has ended or that its server has cancelled: `done` is not called any more. Ignores
  /// unknown tickets.
  virtual void withdraw(ticket t, std::string_view reason) = 0;
};

/// Holds something open at a tool server; it ends with the last copy.
using watch = std::shared_ptr<void>;
/// Takes the server's answer to a subscription.
using watch_decided = std::function<void(const rpc::call_outcome&)>;

/// One operation. `params` are the caller's own bytes; only `_meta` is edited, as docs/passing-on.md says.
struct server_call {
  std::string method = "tools/call";
  std::string name;  ///< name of the tool as its caller knows it, for messages
  /// The server's own name of the tool, prompt, resource or task, if its sender knows it without a search in `params`.
  std::string own_name = {};
  json::raw_json params;  ///< with the server's own name of the tool in place, and _meta as the caller sent it
  /// The _meta in `params`, as a part of their bytes, or absent if they have none; nullopt: not known, it is looked
  /// for.
  std::optional<json::raw_json> meta = {};
  caller_context caller;
  std::optional<rpc::call_limits> limits;  ///< absent: the server's limits
  rpc::pending_calls::done_handler done;   ///< called exactly once, never from inside call()
  /// Takes notifications/progress of this call; params as the server sent them (the progressToken is mcpbx's).
  rpc::pending_calls::progress_handler progress;
  /// Takes notifications/message of this call, as sent. Servers do not say which call a log belongs to: it goes to the
  /// only open call, or to the latest one if all have the same asker and no other principal has had calls there since
  /// the server was last idle, else to nobody.
  rpc::pending_calls::progress_handler log;
  const void* asker = nullptr;  ///< identity of the asker, for logs and fair shares of queues; only compared
  /// Identity of the person or program behind the call ("uid:1000"). A question of a legacy server names no call: it is
  /// delivered only if one principal alone has had calls there since the server was last idle.
  std::string principal = {};
  /// Answers the server's questions about this call; null: each is refused with a sentence.
  std::shared_ptr<question_handler> questions = {};
  /// The caller or run behind the call; needed by a server that is not shared, which refuses a call without one.
  call_scope_ptr scope = {};
  /// The caller is one of 2026-07-28, so that it gets results of types that an extension defines which it and the
  /// server list.
  bool takes_result_types = false;
  /// The caller answers an `input_required` result of a modern server itself, so that it gets it whole.
  bool takes_input_required = false;
  /// Takes notifications of extensions about this call: those that come while a log would belong to it.
  extension_note_handler extension_note = {};
  /// Lowest level of logs that the caller wants of a modern server (RFC 5424 words); "": as `_meta` says, or "info" if
  /// there is a `log` handler.
  std::string log_level = {};
  /// Takes notifications/elicitation/complete about an elicitation of this call, and notifications/tasks/status and
  /// notifications/progress about a task that it created, params as sent. Comes also after `done`, so it must own or
  /// watch over whatever it uses.
  std::function<void(std::string_view method, const json::raw_json& params)> notified = {};

  /// Returns text such as "tools/call git__log".
  std::string what() const { return method + " " + name; }
};

/// Interface of one tool server. It outlives sessions and restarts of the server.
class client {
 public:
  using ticket = std::uint64_t;  ///< names one call of one client, for cancel()
  virtual ~client() = default;
  virtual const std::string& name() const = 0;
  virtual era era() const = 0;
  /// Returns the instructions that the server gave last, printable and at most 4 KiB, or "".
  virtual std::string_view instructions() const { return {}; }
  /// Returns the capabilities that the server declared last; nothing before its first session.
  virtual const protocol::server_offers& offers() const;
  /// Starts a call, and first a server that is lazy or was stopped for idleness. If the server is down, its queue full
  /// (1,024 requests or 16 MiB) or memory short, the call soon ends with a failure that names the server.
  virtual ticket call(server_call&& c) = 0;
  /// Ends the call with errc::cancelled and tells the server (notifications/cancelled). Ignores unknown tickets.
  virtual void cancel(ticket t, std::string_view reason) = 0;
  /// Returns the time of the next planned start of a server that is down, or `never`. Calls fail until shortly before
  /// it.
  virtual time_point next_start() const { return never; }
  /// Subscribes to a resource until the watch is dropped, as README.md says. `updated` takes the params of
  /// notifications/resources/updated; `decided` is called once, maybe from inside. Null: there are no subscriptions.
  virtual watch watch_resource(std::string_view /*uri*/, std::function<void(const json::raw_json&)> /*updated*/,
                               watch_decided /*decided*/ = {}) {
    return nullptr;
  }
  /// The same at the instance that serves this caller, if the server is not shared.
  virtual watch watch_resource_of(const call_scope_ptr& /*scope*/, std::string_view uri,
                                  std::function<void(const json::raw_json&)> updated, watch_decided decided = {}) {
    return watch_resource(uri, std::move(updated), std::move(decided));
  }
  /// Asks a modern server for notifications/tasks about a task of a call with this scope, with the same rules. `told`
  /// takes their params without the mark of mcpbx's own subscription. Null: the server tells nothing of tasks.
  virtual watch watch_task_of(const call_scope_ptr& /*scope*/, std::string_view /*id*/,
                              std::function<void(const json::raw_json&)> /*told*/, watch_decided /*decided*/) {
    return nullptr;
  }
  /// Asks for logs of at least this level (RFC 5424 words) that belong to no call. A legacy server is set to the lowest
  /// level that anyone wants. `logged` takes the params of notifications/message as sent, until the watch is dropped.
  virtual watch watch_logs(std::string_view /*level*/, std::function<void(const json::raw_json&)> /*logged*/) {
    return nullptr;
  }
  /// The same, and also of the instances that serve this caller, if the server is not shared.
  virtual watch watch_logs_of(const call_scope_ptr& /*scope*/, std::string_view level,
                              std::function<void(const json::raw_json&)> logged) {
    return watch_logs(level, std::move(logged));
  }
  /// Inside a `logged` handler: returns the principal that this log is about, if it is about a call at all; "": it may
  /// be about calls of several ones, or nobody can say.
  virtual const std::string& log_subject() const {
    static const std::string nobody;
    return nobody;
  }
  /// Passes a notification of a caller on, if the server is up and, where it is not shared, has a process for this
  /// scope.
  virtual void notify(const call_scope_ptr& /*scope*/, std::string_view /*method*/, const json::raw_json& /*params*/) {}
  /// Takes notifications of extensions that belong to no call, as extension_note does, until the watch is dropped.
  /// Null: the server is not shared, so that they go to the scope whose process it is.
  virtual watch watch_extensions(extension_note_handler /*told*/) { return nullptr; }
  /// Reports that roots have changed. A legacy server that has asked for them gets notifications/roots/list_changed.
  virtual void roots_changed() {}
};

}  // namespace mcpbx::mcp::clients
