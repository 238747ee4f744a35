// A request of OpenAI's Chat Completions as a run request. Members that are not known are left alone, as that API's
// clients expect; what is known and wrong is told by its place. Pure.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::daemon {

/// What is wrong with a request, as that API's errors have it.
struct completion_fault {
  int status = 400;
  std::string message;              ///< a sentence, beginning with the member's place
  std::string param;                ///< that place ("messages[2].content"), or ""
  std::string code;                 ///< "model_not_found" and its like, or ""
  bool final = false;               ///< clients are told not to repeat the request by themselves
  std::int64_t retry_after_ms = 0;  ///< how long to wait before it is sent again; 0: nothing is known
};

struct completion_request {
  run_request run;
  std::string model;                     ///< as the request names it, or ""
  bool stream = false;                   ///< events instead of one answer
  bool include_usage = false;            ///< the stream tells the tokens at its end
  std::vector<std::string> named_tools;  ///< functions that `tool_choice` names, whoever has them
  /// What the caller's next request begins with when this one hands it calls: a hash of model, form of the answer,
  /// settings, tools and messages.
  std::uint64_t conversation = 0;
  /// Where the messages end with the caller's results of the calls in the assistant message before them, and the run
  /// that made these may go on as this request asks: these results, and the same hash of what stands before that
  /// message.
  std::vector<record::caller_result> results;
  std::uint64_t conversation_before = 0;
};

/// `request` is a whole JSON text.
std::expected<completion_request, completion_fault> read_completion(const raw_json& request,
                                                                    const chat_defaults& defaults);

}  // namespace mcpbx::daemon
