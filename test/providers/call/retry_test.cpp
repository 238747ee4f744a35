// The rules of repeating, as a table.
#include "providers/call/retry.hpp"

#include <doctest/doctest.h>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers::call;

TEST_CASE("L13: statuses and stages that may be repeated") {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) CHECK(is_repeatable(status));
  for (const int status : {200, 301, 400, 401, 402, 403, 404, 413, 422}) CHECK_FALSE(is_repeatable(status));
  CHECK(is_repeatable(http::clients::failure{http::clients::stage::resolve, {errc::unavailable, ""}}));
  CHECK(is_repeatable(http::clients::failure{http::clients::stage::connect, {errc::timed_out, ""}}));
  CHECK(is_repeatable(http::clients::failure{http::clients::stage::first_byte, {errc::io, ""}}));
  CHECK_FALSE(is_repeatable(http::clients::failure{http::clients::stage::first_byte, {errc::timed_out, ""}}));
  CHECK_FALSE(is_repeatable(http::clients::failure{http::clients::stage::tls, {errc::unavailable, ""}}));
  CHECK_FALSE(is_repeatable(http::clients::failure{http::clients::stage::body, {errc::io, ""}}));
  CHECK_FALSE(is_repeatable(http::clients::failure{http::clients::stage::resolve, {errc::invalid_argument, ""}}));
}

TEST_CASE("L13: waits double up to a cap, with up to a quarter of jitter taken off") {
  retry_policy p;
  p.max_retries = 10;
  const milliseconds plenty{600'000};
  CHECK(wait_before_retry(p, 1, {}, 0, plenty) == milliseconds(500));
  CHECK(wait_before_retry(p, 2, {}, 0, plenty) == milliseconds(1000));
  CHECK(wait_before_retry(p, 5, {}, 0, plenty) == milliseconds(8000));
  CHECK(wait_before_retry(p, 9, {}, 0, plenty) == milliseconds(8000));
  for (std::uint64_t r = 0; r < 3000; r += 7) {
    const auto w = *wait_before_retry(p, 1, {}, r, plenty);
    CHECK((w > milliseconds(374) && w <= milliseconds(500)));
  }
}

TEST_CASE("G31: at most two retries, retry-after obeyed up to a minute, never past the time that is left") {
  const retry_policy p;
  const milliseconds plenty{600'000};
  CHECK(wait_before_retry(p, 2, {}, 0, plenty));
  CHECK_FALSE(wait_before_retry(p, 3, {}, 0, plenty));
  CHECK(wait_before_retry(p, 1, {.wait_ms = 60'000, .should_retry = {}}, 0, plenty) == milliseconds(60'000));
  CHECK_FALSE(wait_before_retry(p, 1, {.wait_ms = 60'001, .should_retry = {}}, 0, plenty));
  CHECK_FALSE(wait_before_retry(p, 1, {}, 0, milliseconds(500)));
  // A shorter wait than our own back-off is no reason to hurry.
  CHECK(wait_before_retry(p, 1, {.wait_ms = 1, .should_retry = {}}, 0, plenty) == milliseconds(500));
}

TEST_CASE("L13: retry-after in milliseconds, seconds or as a date, and x-should-retry") {
  const std::int64_t now = 1'792'567'680'000;  // Wed, 21 Oct 2026 07:28:00 GMT
  CHECK(read_advice({{"Retry-After", "7"}}, now).wait_ms == 7000);
  CHECK(read_advice({{"retry-after", "7"}, {"Retry-After-Ms", "250"}}, now).wait_ms == 250);
  CHECK(read_advice({{"retry-after", "1.5"}}, now).wait_ms == 1500);
  CHECK(read_advice({{"Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT"}}, now).wait_ms == 30'000);
  CHECK(read_advice({{"Retry-After", "Wed, 21 Oct 2020 07:28:30 GMT"}}, now).wait_ms == 0);
  CHECK(read_advice({{"Retry-After", "soon"}}, now).wait_ms == -1);
  CHECK(read_advice({{"Retry-After", "-5"}}, now).wait_ms == -1);
  CHECK(read_advice({}, now).wait_ms == -1);
  CHECK(read_advice({{"X-Should-Retry", "false"}}, now).should_retry == false);
  CHECK(read_advice({{"x-should-retry", "true"}}, now).should_retry == true);
}

}  // namespace
