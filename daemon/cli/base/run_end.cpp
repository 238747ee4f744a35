// Judges results. The daemon begins the sentence of every end without an answer with the same words
// (docs/requirements.md, L11).
#include "daemon/cli/base/run_end.hpp"

#include "daemon/cli/input/client_tools.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/text.hpp"

#include <string_view>

namespace mcpbx::cli {
namespace {

constexpr std::string_view no_answer_start = "Unable to complete task: ";

terminals::exit_status status_without_answer(const json::raw_json& result, std::string_view reason) {
  // A missing key is the user's to fix and no failure of the provider, which was not even asked.
  if (json::find_member(result, "cause").as_string() == to_string(errc::config)) return terminals::usage;
  return reason == "provider_error" ? terminals::provider_failed : terminals::no_answer;
}

// A run that handed calls to its caller has not ended.
std::string how_to_go_on(const json::raw_json& result, std::size_t calls) {
  return "the run waits for the " + (calls == 1 ? std::string("result of this call") : "results of these calls") +
         "; `mcpbx ask --run=" + shell_word(json::member_text(result, "run")) +
         " --results FILE` goes on, where FILE has {\"ID\": \"the text of its result\", …}";
}

}  // namespace

run_end end_of(const json::raw_json& result, bool interrupted) {
  const std::string reason = json::find_member(result, "stopReason").as_string().value_or("");
  std::string why = json::find_member(result, "reason").as_string().value_or("");
  if (reason == "cancelled")
    return interrupted ? run_end{terminals::interrupted_exit, ""}
                       : run_end{terminals::no_answer, "the run was cancelled"};
  if (const auto calls = input::handed_calls_of(result).size(); reason == "caller_tools" && calls > 0)
    return {terminals::done, how_to_go_on(result, calls)};
  const bool answered = why.empty() ? reason == "final" : !why.starts_with(no_answer_start);
  if (answered) return {terminals::done, std::move(why)};
  if (why.empty()) why = "the run ended without an answer (" + reason + ")";
  return {status_without_answer(result, reason), std::move(why)};
}

}  // namespace mcpbx::cli
