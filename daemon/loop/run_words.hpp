// The texts of a run: for people (status lines, reasons for its end) and for the model (reasons why a call has no
// answer from a server). They are in one place so that all doors use the same words.
#pragma once
#include "daemon/policy/decision.hpp"
#include "daemon/policy/tool_facts.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::daemon::loop::words {

/// For the model: result of a call whose intent could not be written to the journal.
inline constexpr std::string_view never_left =
    "Not executed: the journal of the run could not be written, so the call never left.";
/// For the model: result of a call that was open, or not sent yet, when the machine lost its power.
inline constexpr std::string_view power_lost =
    "No result: the machine of mcpbx lost its power, or was restarted, while this call may have been running; it may "
    "have taken effect.";
/// For people: reason of a run that ends because the records of its last round may be lost.
inline constexpr std::string_view round_lost =
    "the machine of mcpbx lost its power, or was restarted, and what the last round did is not known; tool calls of it "
    "may have taken effect, so look before you ask again (with `store.sync: \"call\"` such a run goes on)";
/// For the model: result of a call that is not made because the run stops at its first failed call.
inline constexpr std::string_view stopped_at_failure =
    "Not executed: another call failed, and this run stops at the first failure.";

/// Returns a title for a tool's name (L15): "lookup_tool" -> "Lookup Tool".
std::string title_case(std::string_view name);
/// Returns "Using Lookup Tool...", made from the tool's title or, if that is empty, from its name.
std::string using_tool(std::string_view name, std::string_view title);
/// Returns "Trying Lookup Tool again...".
std::string trying_again(std::string_view name, std::string_view title);
/// Returns "Tool Lookup Tool failed, trying alternative approach...".
std::string tool_failed(std::string_view name, std::string_view title);
/// Status line for a call without a tool's name, because it could not be read.
inline constexpr std::string_view call_unreadable = "A tool call could not be read, asking for it again...";

inline constexpr std::string_view analyzing = "Analyzing request...";
inline constexpr std::string_view selecting = "Selecting appropriate tools...";
inline constexpr std::string_view processing = "Processing tool results...";
/// Status line of a new run that waits for memory, and the error after it has waited too long.
inline constexpr std::string_view waits_for_room = "Waiting for memory, which other runs use...";
inline constexpr std::string_view no_room =
    "mcpbx uses almost all memory that `limits.totalBytes` allows; try again when other runs have ended, or raise it";
/// Status line while the journal cannot be reached.
inline constexpr std::string_view waits_for_journal = "Waiting for the journal, which cannot be reached...";
inline constexpr std::string_view formulating = "Formulating response...";

/// Returns the error for a run whose session is in use by `run`.
std::string session_in_use(std::string_view session, std::string_view run);
/// Returns the same error without the other run's name, for a caller that may not see that run.
std::string session_in_use(std::string_view session);

/// Returns the error for clients of a run that will be resumed after this daemon has restarted.
std::string goes_on_later(std::string_view run);

/// Returns the error for clients of a run that another daemon has taken over.
std::string goes_on_elsewhere(std::string_view run);

/// Returns "Unable to complete task: " and `why`, with a full stop. Does not repeat the beginning if `why` has it.
std::string unable(std::string_view why);

/// Returns `model "fast" (gpt-x) at api.example.com` from the configured name and the origin of a reply.
std::string who_answered(std::string_view entry, const providers::origin& by);
/// Returns the reason, for people, of a run that ends because a reply filled the model's context. `model` is a text of
/// who_answered(), here and below.
std::string context_filled(std::string_view model);
/// Returns the reason of a run that ends because the only call of a reply could not be read, also after a second try.
std::string call_lost(std::string_view model);
/// Returns the reason of a run that ends because a reply was cut at its token limit. `asked`: the request's limit, or
/// 0.
std::string cut_at_limit(std::string_view model, std::int64_t asked);
/// Returns the reason of a run that ends because a reply ended with `reason`, an unknown word of its provider.
std::string ended_unknown(std::string_view model, std::string_view reason);
/// Returns the reason of a run that ends because its provider's filter stopped a reply.
std::string filtered(std::string_view model);
/// Returns the reason of a run that ends because the model refused, with the model's own words if there are any.
std::string refused(std::string_view model, const providers::message& reply);

/// Returns the status line "Stopped: …" for a sentence made by unable().
std::string stopped(std::string_view reason_text);

/// Returns a tool result of mcpbx itself: an error with `text` as its only content.
json::raw_json error_result(std::string_view text);

/// Returns the guidance for the system prompt (L7): how to use tools, and the first 64 of their names. All names are in
/// the definitions that each request has anyway.
std::string guidance(std::span<const std::string> names);
/// Returns true if a system prompt already has the guidance, as in a continued conversation.
bool has_guidance(std::string_view system);

/// Returns the note that tells a model call how far its run is (L6), or "". `round`: its number from 1.
std::string round_prompt(const stored::run_limits& limits, int round, int depth, bool with_tools);

/// Returns the paragraph for the system prompt if the answer must fit a JSON Schema.
std::string answer_format(const json::raw_json& schema);
/// Returns the message for the model after an answer that does not fit. `problem` has one line per fault.
std::string wrong_answer(std::string_view problem);
/// Returns the lines of `problem` joined for use in a sentence.
std::string in_one_line(std::string_view problem);

/// Returns the result, for the model, of a call of an unknown tool: similar names or, without any, 20 offered ones.
std::string unknown_tool(std::string_view name, std::span<const std::string> similar,
                         std::span<const std::string> offered);

/// Returns the result, for the model, of a call that an earlier daemon sent and that is not repeated. `why`: the
/// reason, with or without "Not executed: " at its beginning.
std::string not_again(std::string_view why);
/// Returns the reason, for people, why a call needs approval by this rule.
std::string_view wants_approval(policy::rule by);
/// Returns the reason for asking again, because the tool or its origin has changed since the approval. `why`: from
/// wants_approval().
std::string asked_anew(std::string_view why);
/// For people: reason of a question that ended because nobody who follows the run can answer it, with the mend.
inline constexpr std::string_view nobody_answers =
    "nobody who follows this run can answer; a program that answers questions says \"answers\": true in mcpbx/hello or "
    "in its request";
/// Returns the status line about a question of a server for input that was declined for that reason.
std::string input_declined(std::string_view server);
/// Returns the status line about a sampling request that needed an approval which nobody can give.
std::string sampling_refused(std::string_view server);
/// Returns the result, for the model, of a call that daemon/policy denies. `name`: the tool's name in the catalog.
std::string not_allowed(const policy::decision& why, std::string_view name, const policy::tool_facts& tool);

/// Formats a duration in milliseconds: "120 s", "1.5 s", "250 ms".
std::string span_of(std::int64_t ms);

}  // namespace mcpbx::daemon::loop::words
