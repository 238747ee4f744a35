// The params of mcpbx/chat as a run_request: every field checked, with its path in the error; limits laid over the
// configuration's; one clear sentence for what this version does not have. Pure.
#pragma once
#include "daemon/loop/runner.hpp"
#include "mcp/server/param_reader.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// `loop.max` of the configuration: what no request can exceed. Unset: no ceiling but the key's own range.
struct limit_ceiling {
  std::optional<std::int64_t> max_rounds, max_calls_per_round, max_calls, max_consecutive_errors, max_repeated_calls,
      tool_concurrency, timeout_ms, question_timeout_ms, token_budget, max_result_bytes;
};

/// What a request starts from.
struct chat_defaults {
  /// The limits of the configuration with those of this model laid over them ("": the default model).
  std::function<run_limits(std::string_view model)> limits = [](std::string_view) { return run_limits(); };
  limit_ceiling ceiling;
};

/// Reads the params into a request. What is wrong stays in `in`; `run`, `principal` are as given by the caller or "".
run_request read_chat(mcp::param_reader& in, const chat_defaults& defaults);

}  // namespace mcpbx::daemon
