// The waits before a dropped stream is resumed: the server's own wish, unless streams that bring nothing follow each
// other. A server that drops every stream at once and wants no wait leads to a handful of requests, then one a second.
#pragma once
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/time.hpp"

#include <algorithm>
#include <chrono>

namespace mcpbx::mcp::remote {

class resume_pace {
 public:
  static constexpr milliseconds usual{1'000}, first_back_off{200}, longest{30'000}, slow{1'000};

  /// Returns the wait before the next attempt. `wish` is the server's (negative: none); `brought` tells if the last
  /// attempt brought a message.
  milliseconds next(time_point now, milliseconds wish, bool brought) {
    milliseconds wait = wish < milliseconds(0) ? usual : wish;
    fruitless_ = brought ? 0 : fruitless_ + 1;
    if (fruitless_ > 1) wait = std::max(wait, std::min(longest, first_back_off * (1 << std::min(fruitless_ - 2, 10))));
    if (!tokens_.take(now)) wait = std::max(wait, slow);
    return wait;
  }
  /// Returns the number of attempts in a row that brought nothing.
  int fruitless() const noexcept { return fruitless_; }

 private:
  rate_limit tokens_{1, 8};
  int fruitless_ = 0;
};

}  // namespace mcpbx::mcp::remote
