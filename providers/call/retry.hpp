// When a model call may be made again, and after how long: decided here, waited for by the caller.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

struct retry_policy {
  int max_retries = 2;
  milliseconds first_wait{500};  ///< doubled each time
  milliseconds longest_wait{8'000};
  milliseconds longest_asked{60'000};  ///< a longer wait that the endpoint asks for is an error at once
};

/// What an answer's headers say about asking again.
struct retry_advice {
  std::int64_t wait_ms = -1;         ///< retry-after-ms or retry-after; -1: nothing
  std::optional<bool> should_retry;  ///< x-should-retry
};
/// `wall_ms` is the present time, for a retry-after that is a date.
retry_advice read_advice(const std::vector<http::header>& headers, std::int64_t wall_ms);

/// An exchange failed: whether nothing of the answer had come, so that the same request may be sent again.
bool is_repeatable(const http::failure& f);
/// An HTTP status that may be repeated at all (408, 409, 429, 5xx with 529).
bool is_repeatable(int status);

/// How long to wait before attempt number `attempt` + 1 (from 1), or nothing when there is to be none. `random` gives
/// the jitter; `left` is what remains of the time for the whole call.
std::optional<milliseconds> wait_before_retry(const retry_policy& policy, int attempt, const retry_advice& advice,
                                              std::uint64_t random, milliseconds left);

}  // namespace mcpbx::providers
