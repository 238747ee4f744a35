// Outcome of a run in terms that the dialects share: one reason for the end, or a fault with an HTTP status. Pure.
#pragma once
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::daemon::dialects {

/// Outcome of a run. The table from stop reason to the words of each dialect is in docs/protocol.md.
struct run_outcome {
  std::string finish;  ///< "stop", "length", "tool_calls" or "content_filter"; "" with a fault
  std::optional<request_fault> fault;
  std::string text;  ///< the last message's text or JSON, or the reason for a missing answer
  struct call {
    std::string id, name, arguments;  ///< arguments: JSON text
  };
  std::vector<call> calls;  ///< calls of the caller's own tools, handed back
  std::string refusal;      ///< reason of a refusal or a filtered answer; "" otherwise
  providers::usage used;    ///< usage of the run, or of the part that this answer is about
};

/// The run's last error event.
struct last_error {
  bool retryable = false;
  std::int64_t retry_after_ms = 0;  ///< 0: none
};
/// Returns the outcome of a run. `with_text` is false if the text was sent already.
run_outcome outcome_of(const json::raw_json& run_result, const last_error& e, bool with_text = true);
/// Returns true if any of the run's messages has reasoning.
bool has_reasoning(const json::raw_json& run_result);
/// Moves text that later proved to be reasoning (late closing mark) from `rounds` to `thinking`.
void take_off_reasoning(std::vector<std::string>& rounds, std::string& thinking, const json::raw_json& run_result);
/// Returns the fault for a start that was refused.
request_fault fault_of(const error& e);

}  // namespace mcpbx::daemon::dialects
