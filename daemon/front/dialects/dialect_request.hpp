// A request of another API as a request for a run: all dialects are read into this. Pure.
#pragma once
#include "daemon/loop/run/runner.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mcpbx::daemon::dialects {

/// Fault of a request. Each dialect writes it in the form of its API's errors.
struct request_fault {
  int status = 400;
  std::string message;              ///< a sentence, beginning with the member's place
  std::string param;                ///< the place ("messages[2].content"), or ""
  std::string code;                 ///< "model_not_found" and its like, or ""
  bool final = false;               ///< clients get the advice not to repeat the request by themselves
  std::int64_t retry_after_ms = 0;  ///< wait before a repetition; 0: unknown
};

struct dialect_request {
  run::run_request run;
  std::string model;                     ///< as the request names it, or ""
  bool stream = false;                   ///< a stream of events instead of one answer
  std::vector<std::string> named_tools;  ///< functions that `tool_choice` names, of the caller or the daemon
  /// Hash of model, form of the answer, settings, tools and messages: the beginning of the caller's next request if
  /// this one hands it calls.
  std::uint64_t conversation = 0;
  /// Results at the end of the messages, for the calls in the assistant message before them. Set if the run with these
  /// calls may continue; `conversation_before` is then the hash of the messages before that one.
  std::vector<stored::record::caller_result> results;
  std::uint64_t conversation_before = 0;
  /// Run that must go on with `results`, named by the request itself; "": found by the conversation, and a new run
  /// begins if there is none.
  std::string continues;
};

}  // namespace mcpbx::daemon::dialects
