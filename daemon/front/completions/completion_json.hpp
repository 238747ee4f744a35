// JSON of OpenAI's Chat Completions: chunks of a stream, whole answers, errors, lists of models, and the outcome of a
// run in these terms. Pure.
#pragma once
#include "daemon/front/completions/completion_request.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// Outcome of a run. The table from stop reason to finish_reason is in docs/protocol.md.
struct completion_outcome {
  std::string finish;  ///< "stop", "length", "tool_calls" or "content_filter"; "" with a fault
  std::optional<completion_fault> fault;
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
completion_outcome outcome_of(const raw_json& run_result, const last_error& e, bool with_text = true);
/// Returns true if any of the run's messages has reasoning.
bool has_reasoning(const raw_json& run_result);
/// Moves text that later proved to be reasoning (late closing mark) from `rounds` to `thinking`.
void take_off_reasoning(std::vector<std::string>& rounds, std::string& thinking, const raw_json& run_result);
/// Returns the fault for a start that was refused.
completion_fault fault_of(const error& e);

namespace completion_json {

/// Members that all chunks of a stream share.
struct head {
  std::string id, model;
  std::int64_t created = 0;  ///< seconds since 1970
  bool with_usage = false;   ///< each chunk of the stream has a usage member
};

// Each of these functions appends one whole event of a stream.
void append_role(std::string& out, const head& h);
void append_text(std::string& out, const head& h, std::string_view text);
void append_reasoning(std::string& out, const head& h, std::string_view text);
void append_refusal(std::string& out, const head& h, std::string_view why);
void append_calls(std::string& out, const head& h, const std::vector<completion_outcome::call>& calls);
void append_finish(std::string& out, const head& h, std::string_view finish);
void append_usage(std::string& out, const head& h, const completion_outcome& o);
void append_done(std::string& out);
/// Appends the last event of a broken stream; [DONE] does not follow.
void append_error(std::string& out, const completion_fault& f);

/// Returns the answer to a request without a stream; `thinking` is written as in a stream.
std::string answer(const head& h, std::string_view text, std::string_view thinking, const completion_outcome& o);
/// Returns the body of an error answer.
std::string error_body(const completion_fault& f);
/// Returns the body of /v1/models, or of the one model `only`; nothing if it does not exist.
std::optional<std::string> models(const std::vector<std::string>& names, std::int64_t created,
                                  std::optional<std::string_view> only);

}  // namespace completion_json
}  // namespace mcpbx::daemon
