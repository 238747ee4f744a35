// What OpenAI's Chat Completions answer, written: chunks of a stream, whole answers, errors, lists of models, and what
// the result of a run is in these terms. Pure.
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

/// What a run has come to. The table from stop reason to finish_reason is in this folder's README.
struct completion_outcome {
  std::string finish;  ///< "stop", "length", "tool_calls" or "content_filter"; "" with a fault
  std::optional<completion_fault> fault;
  std::string text;  ///< the last message's, the JSON where one was asked for, or why there is no answer
  struct call {
    std::string id, name, arguments;  ///< arguments: as JSON text
  };
  std::vector<call> calls;  ///< the caller's own, which are handed back
  std::string refusal;      ///< why the model refused or its answer was filtered; "" otherwise
  providers::usage used;    ///< of the run, or of what the answer is about
};

/// What the run's last error event said.
struct last_error {
  bool retryable = false;
  std::int64_t retry_after_ms = 0;  ///< 0: nothing
};
/// `with_text`: false where the text has been told already, then it is left out.
completion_outcome outcome_of(const raw_json& run_result, const last_error& e, bool with_text = true);
/// Whether any of the run's messages has reasoning.
bool has_reasoning(const raw_json& run_result);
/// Takes off the text of each round what its message has as reasoning: its closing mark came when it had been told as
/// text already. It is appended to `thinking`.
void take_off_reasoning(std::vector<std::string>& rounds, std::string& thinking, const raw_json& run_result);
/// An error of a start that was refused.
completion_fault fault_of(const error& e);

namespace completion_json {

/// The same in all chunks of a stream.
struct head {
  std::string id, model;
  std::int64_t created = 0;  ///< seconds since 1970
  bool with_usage = false;   ///< the stream has a usage member in every chunk
};

// Each of these appends one event of a stream, whole.
void append_role(std::string& out, const head& h);
void append_text(std::string& out, const head& h, std::string_view text);
void append_reasoning(std::string& out, const head& h, std::string_view text);
void append_refusal(std::string& out, const head& h, std::string_view why);
void append_calls(std::string& out, const head& h, const std::vector<completion_outcome::call>& calls);
void append_finish(std::string& out, const head& h, std::string_view finish);
void append_usage(std::string& out, const head& h, const completion_outcome& o);
void append_done(std::string& out);
/// The last event of a stream that broke: [DONE] does not follow.
void append_error(std::string& out, const completion_fault& f);

/// The answer of a request that wants no stream; `thinking` is told as in a stream.
std::string answer(const head& h, std::string_view text, std::string_view thinking, const completion_outcome& o);
/// The body of an error answer.
std::string error_body(const completion_fault& f);
/// The body of /v1/models, or of one model when `only` names it; nothing when that is not there.
std::optional<std::string> models(const std::vector<std::string>& names, std::int64_t created,
                                  std::optional<std::string_view> only);

}  // namespace completion_json
}  // namespace mcpbx::daemon
