// What a run says: to people (status lines, why it stopped) and to the model (why a call has no answer of a server).
// One place, so that the sentences are alike at every door.
#pragma once
#include "daemon/policy/decision.hpp"
#include "daemon/policy/tool_facts.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::daemon::words {

/// To the model, about a call whose intent could not be kept.
inline constexpr std::string_view never_left =
    "Not executed: the journal of the run could not be written, so the call never left.";
/// To the model, about a call that was open, or would have been made, when the machine lost its power.
inline constexpr std::string_view power_lost =
    "No result: the machine of mcpbx lost its power, or was restarted, while this call may have been running; it may "
    "have taken effect.";
/// The reason of a run that ends because the records of its last round may be gone.
inline constexpr std::string_view round_lost =
    "the machine of mcpbx lost its power, or was restarted, and what the last round did is not known; tool calls of it "
    "may have taken effect, so look before you ask again (with `store.sync: \"call\"` such a run goes on)";
/// To the model, about a call of a run that stops at its first failed one.
inline constexpr std::string_view stopped_at_failure =
    "Not executed: another call failed, and this run stops at the first failure.";

/// "lookup_tool" -> "Lookup Tool" (L15).
std::string title_case(std::string_view name);
/// "Using Lookup Tool...": from the tool's title when it has one, else from its name.
std::string using_tool(std::string_view name, std::string_view title);
/// "Trying Lookup Tool again..."
std::string trying_again(std::string_view name, std::string_view title);
/// "Tool Lookup Tool failed, trying alternative approach..."
std::string tool_failed(std::string_view name, std::string_view title);
/// Of a call that names no tool, because it could not be read.
inline constexpr std::string_view call_unreadable = "A tool call could not be read, asking for it again...";

inline constexpr std::string_view analyzing = "Analyzing request...";
inline constexpr std::string_view selecting = "Selecting appropriate tools...";
inline constexpr std::string_view processing = "Processing tool results...";
/// While a new run waits for memory, and when it has waited too long.
inline constexpr std::string_view waits_for_room = "Waiting for memory, which other runs use...";
inline constexpr std::string_view no_room =
    "mcpbx uses almost all memory that `limits.totalBytes` allows; try again when other runs have ended, or raise it";
/// While the journal cannot be reached.
inline constexpr std::string_view waits_for_journal = "Waiting for the journal, which cannot be reached...";
inline constexpr std::string_view formulating = "Formulating response...";

/// Why a run cannot go on with a session that another one has.
std::string session_in_use(std::string_view session, std::string_view run);
/// The same to a caller that is not to know whose run that is.
std::string session_in_use(std::string_view session);

/// To whoever follows, or asks for, a run that a daemon on its way out has left for the next one.
std::string goes_on_later(std::string_view run);

/// To whoever follows, or asks for, a run that another daemon has taken over.
std::string goes_on_elsewhere(std::string_view run);

/// "Unable to complete task: " and `why`, as one sentence with its full stop.
std::string unable(std::string_view why);

/// `model "fast" (gpt-x) at api.example.com`: the entry of a run, and who made a reply.
std::string who_answered(std::string_view entry, const providers::origin& by);
/// Why a reply stopped that filled the model's context, for people; `model` as above.
std::string context_filled(std::string_view model);
/// The same for one whose only call could not be read, also when it was asked for once more.
std::string call_lost(std::string_view model);
/// The same for one that was cut off at the limit of its tokens; `asked`: the limit that the request set, 0: none.
std::string cut_at_limit(std::string_view model, std::int64_t asked);
/// The same for one that ended for `reason`, a word of its provider that is not known here.
std::string ended_unknown(std::string_view model, std::string_view reason);
/// The same for one that a filter of its provider stopped.
std::string filtered(std::string_view model);
/// The same for one that refuses, with what the model says about it.
std::string refused(std::string_view model, const providers::message& reply);

/// "Stopped: …" for the status line, from such a sentence.
std::string stopped(std::string_view reason_text);

/// A tool result of our own with `text` as its only content.
raw_json error_result(std::string_view text);

/// The guidance that joins the system prompt (L7): tool names and how to use tools. Only the first 64 names are told:
/// the definitions, which every model gets too, have them all.
std::string guidance(std::span<const std::string> names);
/// Whether a system prompt has the guidance in it already (a conversation that is gone on with).
bool has_guidance(std::string_view system);

/// What one model call is told of where its run stands (L6), or "": `round` is its number from 1.
std::string round_prompt(const run_limits& limits, int round, int depth, bool with_tools);

/// What joins the system prompt when the answer must fit a JSON Schema.
std::string answer_format(const raw_json& schema);
/// What the model is told of an answer that does not; `problem` has a line per fault.
std::string wrong_answer(std::string_view problem);
/// Such lines as a part of a sentence.
std::string in_one_line(std::string_view problem);

/// For a call of a tool that is not there: what was wrong, and what exists.
std::string unknown_tool(std::string_view name, std::span<const std::string> similar,
                         std::span<const std::string> offered);

/// For a call that was at its server when an earlier daemon ended and that is not made again; `why` says why, as it
/// would be said of one that was never sent ("Not executed: …").
std::string not_again(std::string_view why);
/// Says to a person why a call needs an approval, by the rule that wants one.
std::string_view wants_approval(rule by);
/// The same of a question that comes again, because the approval was for something else; `why` as above.
std::string asked_anew(std::string_view why);
/// Says to the model why a call is not made that daemon/policy denies. `name`: the tool's own one, `server`:
/// configured.
std::string not_allowed(const decision& why, std::string_view name, const tool_facts& tool);

/// "120 s", "1.5 s", "250 ms".
std::string span_of(std::int64_t ms);

}  // namespace mcpbx::daemon::words
