// Tests of the Accept header: ranges, weights, order.
#include "daemon/front/mcp/accepted.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::daemon::mcp_door;

TEST_CASE("Accept: types and ranges count without regard to case, and a weight of zero takes them away") {
  const auto takes = [](const char* value) { return accepts({{"Host", "x"}, {"accept", value}}, "text/event-stream"); };
  for (const char* yes : {"text/event-stream", "application/json, text/event-stream", "*/*", "text/*",
                          "Text/Event-Stream;charset=utf-8", "a/b,,  text/event-stream ; q=0.1", "text/*;q=1"})
    CHECK_MESSAGE(takes(yes), yes);
  for (const char* no : {"", "application/json", "text/event-streams", "application/*", "text/event-stream;q=0",
                         "text/event-stream; q=0.000", "*", "text"})
    CHECK_MESSAGE(!takes(no), no);
  CHECK_FALSE(accepts({}, "application/json"));
  CHECK(accepts({{"Accept", "text/html"}, {"Accept", "application/json"}}, "application/json"));
}

TEST_CASE("Accept: a caller that names event streams before JSON prefers them") {
  const auto prefers = [](const char* value) { return prefers_stream({{"Accept", value}}); };
  CHECK(prefers("text/event-stream, application/json"));
  CHECK_FALSE(prefers("application/json, text/event-stream"));
  CHECK_FALSE(prefers("*/*"));
  CHECK_FALSE(prefers_stream({}));
}
