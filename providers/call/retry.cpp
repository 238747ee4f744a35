// The rules of L13 (docs/requirements.md) and G31 (docs/guarantees.md).
#include "providers/call/retry.hpp"

#include <algorithm>
#include <charconv>

namespace mcpbx::providers::call {
namespace {

// Parses a decimal number, independent of the locale, and returns it times `scale`, or -1.
std::int64_t scaled(std::string_view text, std::int64_t scale) {
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e12) return -1;
  return static_cast<std::int64_t>(value * static_cast<double>(scale));
}

}  // namespace

retry_advice read_advice(const std::vector<http::header>& headers, std::int64_t wall_ms) {
  retry_advice advice;
  const auto should = http::find_header(headers, "x-should-retry");
  if (should == "true") advice.should_retry = true;
  if (should == "false") advice.should_retry = false;
  advice.wait_ms = scaled(http::find_header(headers, "retry-after-ms"), 1);
  const auto after = http::find_header(headers, "retry-after");
  if (advice.wait_ms < 0) advice.wait_ms = scaled(after, 1000);
  if (advice.wait_ms < 0)
    if (const auto date = http::date_ms(after)) advice.wait_ms = std::max<std::int64_t>(0, *date - wall_ms);
  return advice;
}

bool is_repeatable(const http::clients::failure& f) {
  switch (f.stage) {
    case http::clients::stage::resolve:
    case http::clients::stage::connect:
      return f.why.code == errc::unavailable || f.why.code == errc::timed_out || f.why.code == errc::io;
    case http::clients::stage::tls:
      return f.why.code == errc::timed_out;  // a retry does not make a bad certificate good
    case http::clients::stage::send:
    case http::clients::stage::first_byte:
      return f.why.code == errc::io;  // broken connection; after a time limit of minutes the user decides
    case http::clients::stage::body:
      return false;
  }
  return false;
}

bool is_repeatable(int status) {
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

std::optional<milliseconds> wait_before_retry(const retry_policy& policy, int attempt, const retry_advice& advice,
                                              std::uint64_t random, milliseconds left) {
  if (attempt > policy.max_retries) return std::nullopt;
  milliseconds wait = policy.first_wait * (std::int64_t{1} << std::min(attempt - 1, 20));
  wait = std::min(wait, policy.longest_wait);
  // Shorten the wait by up to a quarter, so that many callers do not come back in step.
  wait -= milliseconds(static_cast<std::int64_t>(random % 1000) * wait.count() / 4000);
  if (advice.wait_ms >= 0) {
    if (advice.wait_ms > policy.longest_asked.count()) return std::nullopt;
    wait = std::max(wait, milliseconds(advice.wait_ms));
  }
  if (wait >= left) return std::nullopt;
  return wait;
}

}  // namespace mcpbx::providers::call
