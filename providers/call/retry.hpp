// Decides about retries of model calls and their waits. The caller does the waiting.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mcpbx::providers::call {

struct retry_policy {
  int max_retries = 2;
  milliseconds first_wait{500};  ///< wait before the second attempt; doubled each time
  milliseconds longest_wait{8'000};
  milliseconds longest_asked{60'000};  ///< if the endpoint asks for a longer wait, the call fails at once
};

/// Advice of the endpoint about retries, from the headers of an answer.
struct retry_advice {
  std::int64_t wait_ms = -1;         ///< retry-after-ms or retry-after; -1: nothing
  std::optional<bool> should_retry;  ///< x-should-retry
};
/// Reads the advice. `wall_ms` is the present time in milliseconds since 1970, for a retry-after that is a date.
retry_advice read_advice(const std::vector<http::header>& headers, std::int64_t wall_ms);

/// Returns true if an exchange failed before any byte of the answer, so that the same request may be sent again.
bool is_repeatable(const http::clients::failure& f);
/// Returns true for statuses that allow a retry: 408, 409, 429, and 500 upwards.
bool is_repeatable(int status);

/// Returns the wait before attempt `attempt` + 1 (the first is 1), or nullopt for no retry. `random` gives the jitter;
/// `left` is the time that remains for the whole call.
std::optional<milliseconds> wait_before_retry(const retry_policy& policy, int attempt, const retry_advice& advice,
                                              std::uint64_t random, milliseconds left);

}  // namespace mcpbx::providers::call
