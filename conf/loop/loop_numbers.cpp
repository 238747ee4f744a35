// The table of numbers. Its order is the order of the journal.
#include "conf/loop/loop_numbers.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace mcpbx::conf::loop {

// clang-format off: one setting, one line
std::span<const loop_number> loop_numbers() {
  using o = open_counts;
  using s = settled_counts;
  constexpr std::int64_t week = std::int64_t{7} * 24 * 3600 * 1000, mib = 1024 * 1024;
  static constexpr auto numbers = std::to_array<loop_number>({
    {"maxRounds", &o::max_rounds, &s::max_rounds, 0, 100'000, false, "How many model calls of a run may offer tools; 0: none does."},
    {"maxCallsPerRound", &o::max_calls_per_round, &s::max_calls_per_round, 1, 10'000, false, "How many tool calls of one reply are carried out."},
    {"maxCalls", &o::max_calls, &s::max_calls, 1, 1'000'000, false, "How many tool calls a run may make in total."},
    {"maxConsecutiveErrors", &o::max_consecutive_errors, &s::max_consecutive_errors, 0, 1000, true, "How many failing rounds in a row end the run; 0: no limit."},
    {"maxRepeatedCalls", &o::max_repeated_calls, &s::max_repeated_calls, 0, 1000, true, "How often the same call with the same arguments may be made before the run ends; 0: no limit."},
    {"toolConcurrency", &o::tool_concurrency, &s::tool_concurrency, 1, 1024, false, "How many calls of one round run at the same time; 1 is strict sequence."},
    {"timeoutMs", &o::timeout_ms, &s::timeout_ms, 1, week, false, "The time for a whole run; waiting for people does not count."},
    {"questionTimeoutMs", &o::question_timeout_ms, &s::question_timeout_ms, 1, week, false, "How long a question to a person may stay open."},
    {"tokenBudget", &o::token_budget, &s::token_budget, 0, 1'000'000'000, true, "How many tokens a run may use over all rounds; 0, or not given: no limit."},
    {"maxResultBytes", &o::max_result_bytes, &s::max_result_bytes, 256, 64 * mib, false, "How much of a tool's result the model is shown."},
  });
  return numbers;
}
// clang-format on

const loop_number& find_loop_number(std::string_view key) {
  const auto found = std::ranges::find(loop_numbers(), key, &loop_number::key);
  assert(found != loop_numbers().end());
  return *found;
}

std::int64_t loop_number::stricter(std::int64_t a, std::int64_t b) const {
  const bool none = zero_is_none || low > 0;
  return none && (a == 0 || b == 0) ? std::max(a, b) : std::min(a, b);
}

}  // namespace mcpbx::conf::loop
