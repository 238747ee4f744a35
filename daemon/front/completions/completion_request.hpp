// Conversion of a Chat Completions request into a run request. Unknown members are ignored, as that API's clients
// expect; errors in known ones name their place. Pure.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::daemon {

/// Fault of a request, in terms of that API's errors.
struct completion_fault {
  int status = 400;
  std::string message;              ///< a sentence, beginning with the member's place
  std::string param;                ///< the place ("messages[2].content"), or ""
  std::string code;                 ///< "model_not_found" and its like, or ""
  bool final = false;               ///< clients are told not to repeat the request by themselves
  std::int64_t retry_after_ms = 0;  ///< wait before a repetition; 0: unknown
};

struct completion_request {
  run_request run;
  std::string model;                     ///< as the request names it, or ""
  bool stream = false;                   ///< a stream of events instead of one answer
  bool include_usage = false;            ///< the stream ends with the token usage
  std::vector<std::string> named_tools;  ///< functions that `tool_choice` names, of the caller or the daemon
  /// Hash of model, form of the answer, settings, tools and messages: the beginning of the caller's next request if
  /// this one hands it calls.
  std::uint64_t conversation = 0;
  /// Results at the end of the messages, for the calls in the assistant message before them. Set if the run with these
  /// calls may continue; `conversation` is then the hash of the messages before that one.
  std::vector<record::caller_result> results;
  std::uint64_t conversation_before = 0;
};

/// Reads `request`, a whole JSON text.
std::expected<completion_request, completion_fault> read_completion(const raw_json& request,
                                                                    const chat_defaults& defaults);

}  // namespace mcpbx::daemon
