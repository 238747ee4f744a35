// The records of a run: everything that happens to a run is one of these, appended to the journal in order before it
// takes effect. A run's state is the fold of its records; nothing else decides what it does next.
#pragma once
#include "conf/loop/loop_numbers.hpp"
#include "conf/loop/loop_words.hpp"
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mcpbx::daemon {

/// Why a run ended: one closed set, the same at every door (docs/requirements.md, L11).
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

using conf::limit_policy, conf::round_prompt_mode, conf::status_mode, conf::tool_error_policy;
/// What becomes of calls that need a person's approval (L19): the caller is asked, they are made, or they are refused.
enum class approval_mode : std::uint8_t { ask, all, none };

/// The limits of one run after configuration, model, profile and request were laid over each other.
struct run_limits : conf::settled_counts {
  limit_policy on_limit = limit_policy::synthesize;
  tool_error_policy on_tool_error = tool_error_policy::go_on;
  status_mode status = status_mode::names;
  approval_mode approve = approval_mode::ask;
  bool approve_destructive =
      false;  ///< tools that may destroy, by their own hints or for want of any, need an approval
  std::string empty_result_text = "No relevant content found";
  bool guidance = true;       ///< advice about tools joins the system prompt (L7)
  std::string guidance_text;  ///< the advice, in place of ours; or ""
  round_prompt_mode round_prompts = round_prompt_mode::implicit;
  conf::round_prompt_texts round_texts;
  std::string status_model;           ///< which model writes status lines (status_mode::model); "": the run's own
  bool mark_results = false;          ///< tool output is shown to the model between marks
  bool approve_after_output = false;  ///< as approve_destructive, once the model has been shown what a tool returned
  bool operator==(const run_limits&) const = default;
};

namespace record {

/// A whole result of which the model was shown a part (L14).
struct whole_result {
  std::string call_id;
  raw_json result;
};
/// The tool that a model means by a name.
struct meant_tool {
  std::string name;          ///< as the model sees it
  std::string server, tool;  ///< configured name, and the server's own name of the tool
  bool operator==(const meant_tool&) const = default;
};
/// The input: written before the first model request.
struct run_started {
  std::string run;                               ///< the run's name
  std::string session;                           ///< or ""
  std::string principal;                         ///< who asked
  std::string model;                             ///< configured name
  std::vector<providers::message_ptr> messages;  ///< what this run brings: system prompt and what the caller said
  /// What the session held before; the journal keeps only how many these are, and gives them again from its other runs.
  std::vector<providers::message_ptr> inherited;
  std::size_t inherited_count = 0;  ///< also where `inherited` itself has not been filled in
  /// Of the results in `inherited`, those that the model can read on, oldest first. Not kept, but filled in like these.
  std::vector<whole_result> inherited_results;
  /// What the names in the calls of `inherited` mean, each once. Not kept, but filled in like these.
  std::vector<meant_tool> inherited_tools;
  /// The session's latest run when its history was read (journal::history::last_run): the run begins only behind it. 0:
  /// behind any. Not kept.
  std::int64_t inherited_after = 0;
  std::string profile;               ///< or ""
  tool_choice tools;                 ///< what the run may use of the catalog; `beside` is not kept
  std::vector<std::string> approve;  ///< globs of tools that need an approval, beside those of their servers
  /// What the configuration said of the servers, of a run that may go on after a restart. Null: not kept.
  std::shared_ptr<const std::vector<server_terms>> servers;
  std::vector<raw_json> client_tools;  ///< definitions of the caller's own tools (L21), in MCP's shape
  raw_json answer_schema;              ///< the JSON Schema that the final answer must fit; or absent
  providers::call_settings settings;   ///< of every call of the run's model
  bool detached = false;               ///< goes on without a caller
  std::string nonce;                   ///< names the marks around tool output; empty: there are none
  std::uint64_t likeness = 0;          ///< of the request, as run_request has it
  run_limits limits;
  raw_json
      asked_limits;  ///< what of `limits` the request itself, or one before it in the session, asked for; or absent
};
/// A level opens: written before its model request.
struct round_started {
  int depth = 0;  ///< 0 for the first
  std::string model;
  bool with_tools = true;       ///< false: the last call, from which the model answers with what it has
  std::int64_t elapsed_ms = 0;  ///< of the run, so that its time limit survives a restart
  int shortened = 0;            ///< old tool results that were cut because the model refused this round for its length
};
/// The model's reply: written before any of its calls.
struct assistant {
  providers::message_ptr message;
  providers::end_reason reason = providers::end_reason::stop;
  std::string raw_reason;
  providers::usage usage;
  std::int64_t ms = 0;
  /// For each call in order the lane it runs in, 0: none. Calls in the same lane are made one after another. Empty: no
  /// call has one.
  std::vector<int> lanes;
  /// What the names in its calls mean, each once; a name that was not offered means nothing.
  std::vector<meant_tool> tools;
};
/// The model call gave nothing usable.
struct model_failed {
  providers::model_error error;
  std::int64_t ms = 0;
};
/// Something only a person can say: written before it is shown. Bound to what was shown by the two hashes (SHA-256
/// in hexadecimal): an answer holds for no other.
struct question {
  std::string id, kind, call_id;  ///< kind: "approval"
  raw_json body;                  ///< what is shown: an object
  std::string tool_sha256;        ///< of the tool and where its server comes from; "" where an older mcpbx wrote this
  std::string arguments_sha256;   ///< of the arguments' bytes; or ""
  std::int64_t expires_ms = 0;    ///< wall clock, ms since 1970
};
/// What was said: written before it takes effect. `body` has approve, and always: for this tool in all of the run.
struct answer {
  std::string id;
  raw_json body;
  bool expired = false;     ///< nobody said anything in time
  bool unattended = false;  ///< expired while nobody was there to be asked
  bool mute = false;        ///< expired before its time, because nobody who was there could say anything any more
};
/// A call is about to be sent: written before its bytes leave for the server. Or it is the caller's own to make.
struct call_intent {
  std::string call_id;
  std::string name, server;  ///< exposed name and configured server, for reports and people
  int attempt = 1;
  std::uint64_t definition_hash = 0, arguments_hash = 0;
  bool repeatable = false;
  bool to_caller = false;  ///< one of the caller's tools: its result comes as caller_result
};
/// Where a result came from.
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
/// The one result of a call: written before its event and the next round.
struct call_result {
  std::string call_id;
  raw_json result;  ///< the server's result object, or ours in the same shape
  bool is_error = false;
  result_cause cause = result_cause::server;
  std::int64_t ms = 0;
};
/// Nothing is left to do but calls of the caller's own tools, which are handed back; and one of their results.
struct parked {
  std::vector<std::string> call_ids;
  std::int64_t expires_ms = 0;  ///< wall clock, ms since 1970; 0: not known
  std::int64_t elapsed_ms = 0;  ///< of the run, as round_started has it
};
struct caller_result {
  std::string call_id;
  raw_json result;
};
/// Somebody asked for the end (or the caller left, or time was up: `why` says which stop reason that is).
struct cancel {
  stop_reason why = stop_reason::cancelled;
  std::string text;
  providers::usage usage{};    ///< of the model calls that it ends, an estimate
  std::string partial_text{};  ///< of the answer that it breaks off, as far as it was told
};
/// The end. Nothing follows.
struct run_ended {
  stop_reason reason = stop_reason::final;
  std::string text;  ///< the sentence for people when there is no answer, else ""
};
/// A model wrote a line for people about a call (L15): told after this, and its tokens count.
struct status_line {
  std::string call_id;
  std::string text;  ///< "": nothing usable
  providers::usage usage;
  std::int64_t ms = 0;
};

/// How much of its time the run has used: now and then, so that little of it is lost in a restart (L8).
struct time_used {
  std::int64_t elapsed_ms = 0;  ///< as round_started has it
};

/// The run's limits from here on: written where it goes on after a restart that has found stricter ones.
struct limits_lowered {
  run_limits limits;
};

/// Another process goes on with the run, or closes it: written before it does anything else, so that nothing that the
/// one before it may still write is taken.
struct taken_over {
  std::string by;           ///< as people call that daemon; "": this one, started again
  bool power_lost = false;  ///< what was not synced may be gone: nothing that was open is made (again) by itself
};

}  // namespace record

using run_record = std::variant<record::run_started, record::round_started, record::assistant, record::model_failed,
                                record::question, record::answer, record::call_intent, record::call_result,
                                record::parked, record::caller_result, record::cancel, record::run_ended,
                                record::status_line, record::time_used, record::limits_lowered, record::taken_over>;
/// The record's name as the journal writes it ("call_intent").
std::string_view name_of(const run_record& r);
/// What the first model call is given: the system prompt, what the session held before, what this run brings.
std::vector<providers::message_ptr> conversation_of(const record::run_started& r);

}  // namespace mcpbx::daemon
