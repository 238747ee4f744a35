// The params of mcpbx/chat as a run_request: every field checked, with its path in the error; limits laid over the
// configuration's; one clear sentence for what this version does not have. Pure.
#pragma once
#include "daemon/loop/runner.hpp"
#include "mcp/server/param_reader.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// What a request may say for one number of its `limits`.
struct limit_bound {
  std::int64_t least = 0, most = std::numeric_limits<int>::max();
  bool zero_is_none = false;            ///< 0 stands for "no limit", which is more than any number
  std::optional<std::int64_t> ceiling;  ///< `loop.max`: what is above counts as this
};

/// What a request starts from.
struct chat_defaults {
  /// The limits of the configuration with those of this model laid over them ("": the default model).
  std::function<run_limits(std::string_view model)> limits = [](std::string_view) { return run_limits(); };
  /// The bound of a key of `limits` ("maxRounds"): the configuration's range and ceiling of the same key.
  std::function<limit_bound(std::string_view key)> bound = [](std::string_view) { return limit_bound(); };
};

/// Reads the params into a request. What is wrong stays in `in`; `run`, `principal` are as given by the caller or "".
run_request read_chat(mcp::param_reader& in, const chat_defaults& defaults);

}  // namespace mcpbx::daemon
