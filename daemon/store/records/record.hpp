// The records of a run. Everything that happens to a run is one of these, appended to the journal in order before it
// takes effect. The state of a run follows from its records alone.
#pragma once
#include "conf/loop/loop_choices.hpp"
#include "conf/loop/loop_numbers.hpp"
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/trace/trace_context.hpp"
#include "providers/model/message.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mcpbx::daemon::stored {

/// Reason of a run's end: one closed set, the same at every door (docs/requirements.md, L11).
enum class stop_reason : std::uint8_t {
  final,
  max_rounds,
  consecutive_errors,
  tool_error,
  timeout,
  token_budget,
  call_budget,
  refused,
  truncated,
  cancelled,
  needs_approval,
  caller_tools,
  provider_error,
  context_full,
  store_error,
  interrupted,
  repeated_calls
};
std::string_view to_string(stop_reason r);

using conf::loop::approval_mode, conf::loop::limit_policy, conf::loop::round_prompt_mode, conf::loop::status_mode,
    conf::loop::tool_error_policy;

/// The limits of one run after configuration, model, profile and request were laid over each other.
struct run_limits : conf::loop::settled_counts, conf::loop::settled_choices {
  bool operator==(const run_limits&) const = default;
};

namespace record {

/// The complete result of a call whose output was cut for the model (L14).
struct whole_result {
  std::string call_id;
  json::raw_json result;
};
/// The tool behind a name that a model uses.
struct meant_tool {
  std::string name;          ///< as the model sees it
  std::string server, tool;  ///< configured name, and the server's own name of the tool
  bool operator==(const meant_tool&) const = default;
};
/// Resources that the model may read where results link to them: globs of their URIs, as in a profile.
struct link_rules {
  std::vector<std::string> allow, deny;
  /// Returns true if nothing may be read.
  bool none() const { return std::ranges::find(deny, "*") != deny.end(); }
  bool operator==(const link_rules&) const = default;
};
/// The input: written before the first model request.
struct run_started {
  std::string run;                               ///< the run's name
  std::string session;                           ///< or ""
  std::string principal;                         ///< owner of the run
  std::string model;                             ///< configured name
  std::vector<providers::message_ptr> messages;  ///< messages that this run adds: system prompt and the caller's input
  /// Tools behind the names in the calls of `messages`, if these began in another session.
  std::vector<meant_tool> meant;
  /// Messages of earlier runs of the session. The journal stores their number only, and restores them from those runs.
  std::vector<providers::message_ptr> inherited;
  std::size_t inherited_count = 0;  ///< number of those messages, also if `inherited` has not been filled in
  /// Results in `inherited` that the model can read on, oldest first. Not stored, but filled in like `inherited`.
  std::vector<whole_result> inherited_results;
  /// Tools behind the names in the calls of `inherited`, each once. Not stored, but filled in like `inherited`.
  std::vector<meant_tool> inherited_tools;
  /// The session's latest run when its history was read (journal::history::last_run). The run begins only if that is
  /// still the latest one; 0: any. Not stored.
  std::int64_t inherited_after = 0;
  std::string profile;               ///< or ""
  tool_choice tools;                 ///< tools of the catalog that the run may use; `beside` is not stored
  std::vector<std::string> approve;  ///< globs of tools that need approval, beside those of their servers
  link_rules links;
  /// Terms of the servers by the configuration, for a run that may be resumed after a restart. Null: not stored.
  std::shared_ptr<const std::vector<server_terms>> servers;
  std::vector<json::raw_json> client_tools;  ///< definitions of the caller's own tools (L21), in MCP's shape
  json::raw_json answer_schema;              ///< JSON Schema that the final answer must fit; or absent
  providers::call_settings settings;         ///< settings of every call of the run's model
  bool detached = false;                     ///< the run goes on without a caller
  std::string nonce;                         ///< part of the marks around tool output; empty: there are no marks
  std::uint64_t likeness = 0;                ///< fingerprint of the request, as in run_request
  trace::trace_context trace;                ///< trace of the caller, for the run's calls; or none
  run_limits limits;
  json::raw_json
      asked_limits;  ///< those of `limits` that this request, or an earlier one of the session, asked for; or absent
};
/// The beginning of a round, written before its model request.
struct round_started {
  int depth = 0;  ///< 0 for the first
  std::string model;
  bool with_tools = true;       ///< false: the last call, in which the model must answer without tools
  std::int64_t elapsed_ms = 0;  ///< time that the run has used, so that its limit survives a restart
  int shortened = 0;            ///< number of old tool results cut because the model refused the round for its length
};
/// The model's reply, written before any of its calls.
struct assistant {
  providers::message_ptr message;
  providers::end_reason reason = providers::end_reason::stop;
  std::string raw_reason;
  providers::usage usage;
  std::int64_t ms = 0;
  /// Serial group of each call in order, 0: none; "lanes" in the journal. Calls of a group are made one after another.
  std::vector<int> serial_groups;
  /// Tools behind the names in its calls, each once. A name that was not offered has none.
  std::vector<meant_tool> tools;
};
/// The failure of a model call.
struct model_failed {
  providers::model_error error;
  std::int64_t ms = 0;
};
/// A question to a person, written before it is shown. The two hashes (SHA-256 in hexadecimal) bind an approval to the
/// shown call, so that an answer is valid for no other one.
struct question {
  std::string id, kind, call_id;  ///< kind: "approval" or "input"
  json::raw_json body;            ///< an object with the shown content
  std::string tool_sha256;        ///< hash of the tool and its server's origin; "": written by an older mcpbx
  std::string arguments_sha256;   ///< hash of the arguments' bytes, or ""
  std::int64_t expires_ms = 0;    ///< wall clock, in milliseconds since 1970
  /// Asked by the call's server while the call runs: an `input`, or the approval of a sampling request.
  bool during_call = false;
};
/// A person's answer, written before it takes effect. `body` of an approval has `approve`, and `always` for this tool
/// in the whole run; that of an input has `action` and `content`, which the server gets.
struct answer {
  std::string id;
  json::raw_json body;
  bool expired = false;     ///< no answer came in time
  bool unattended = false;  ///< expired while no client was attached
  bool mute = false;        ///< expired early, because no attached client could answer any more
  bool withdrawn = false;   ///< the server does not wait for it any more
};
/// The intent to make a call, written before its bytes are sent to the server, or before it is handed to the caller.
struct call_intent {
  std::string call_id;
  std::string name, server;  ///< exposed name and configured server, for reports and people
  int attempt = 1;
  std::uint64_t definition_hash = 0, arguments_hash = 0;
  bool repeatable = false;
  bool to_caller = false;  ///< one of the caller's tools: its result comes as caller_result
};
/// Origin of a result.
enum class result_cause : std::uint8_t {
  server,
  unknown_tool,
  bad_arguments,
  unavailable,
  timed_out,
  cancelled,
  too_many_calls,
  interrupted,
  refused
};
std::string_view to_string(result_cause c);
/// The result of a call, written before its event and before the next round.
struct call_result {
  std::string call_id;
  json::raw_json result;  ///< result object of the server, or one of ours in the same form
  bool is_error = false;
  result_cause cause = result_cause::server;
  std::int64_t ms = 0;
};
/// The pause of a run whose only open calls are of the caller's own tools, which are handed back.
struct parked {
  std::vector<std::string> call_ids;
  std::int64_t expires_ms = 0;  ///< wall clock, in milliseconds since 1970; 0: unknown
  std::int64_t elapsed_ms = 0;  ///< time that the run has used, as in round_started
};
struct caller_result {
  std::string call_id;
  json::raw_json result;
};
/// A request to end the run, because of a caller or the time limit; `why` is the stop reason.
struct cancel {
  stop_reason why = stop_reason::cancelled;
  std::string text;
  providers::usage usage{};    ///< estimated usage of the model calls that it ends
  std::string partial_text{};  ///< streamed part of the answer that it breaks off
};
/// The end of the run. No record follows.
struct run_ended {
  stop_reason reason = stop_reason::final;
  std::string text;  ///< sentence for people if there is no answer, else ""
};
/// A model's line for people about a call (L15), written before it is shown; its tokens count.
struct status_line {
  std::string call_id;
  std::string text;  ///< "": nothing usable
  providers::usage usage;
  std::int64_t ms = 0;
};

/// The time that the run has used, written now and then so that a restart loses little of it (L8).
struct time_used {
  std::int64_t elapsed_ms = 0;  ///< as in round_started
};

/// New limits of the run, written when it is resumed after a restart under a stricter configuration.
struct limits_lowered {
  run_limits limits;
};

/// The takeover of the run by another process, which writes this first, so that no later record of the old process is
/// accepted.
struct taken_over {
  std::string by;           ///< name of that daemon for people; "": this one, restarted
  bool power_lost = false;  ///< unsynced records may be lost, so open calls are not made (again) automatically
};

}  // namespace record

using run_record = std::variant<record::run_started, record::round_started, record::assistant, record::model_failed,
                                record::question, record::answer, record::call_intent, record::call_result,
                                record::parked, record::caller_result, record::cancel, record::run_ended,
                                record::status_line, record::time_used, record::limits_lowered, record::taken_over>;
/// Returns the record's name in the journal ("call_intent").
std::string_view name_of(const run_record& r);
/// Returns the messages of the first model call: system prompt, earlier messages of the session, those of this run.
std::vector<providers::message_ptr> conversation_of(const record::run_started& r);

}  // namespace mcpbx::daemon::stored
