// The line about what a run has cost.
#include "daemon/cli/text/usage_line.hpp"

#include <doctest/doctest.h>

using mcpbx::cli::text::usage_line;
using mcpbx::json::raw_json;

TEST_CASE("L8: the line says tokens, how many of them were cached, and that they are an estimate") {
  CHECK(usage_line(raw_json::literal(
            R"({"rounds":2,"toolCalls":[{}],"usage":{"inputTokens":1200,"outputTokens":56,"cachedTokens":1000}})")) ==
        "2 rounds, 1 tool call, 1200 tokens in (1000 cached), 56 out");
  CHECK(
      usage_line(raw_json::literal(
          R"({"rounds":1,"toolCalls":[],"usage":{"inputTokens":1,"outputTokens":2,"cachedTokens":0,"estimated":true}})")) ==
      "1 round, 0 tool calls, about 1 token in, 2 out");
  CHECK(usage_line(raw_json::literal(R"({"rounds":0,"toolCalls":[],"usage":{}})")) == "");
}
