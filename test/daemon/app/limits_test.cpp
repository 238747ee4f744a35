// Which level of the configuration decides a run's limits.
#include "daemon/app/limits.hpp"

#include "test/daemon/app/loaded.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::daemon;
using mcpbx::daemon::test::loaded;

TEST_CASE("limits: without a word the documented defaults hold and nothing is a ceiling") {
  const auto all = loaded("{}");
  const auto r = limits_for(all, nullptr);
  CHECK(r.max_rounds == 10);
  CHECK(r.max_calls_per_round == 64);
  CHECK(r.max_calls == 256);
  CHECK(r.max_consecutive_errors == 3);
  CHECK(r.max_repeated_calls == 3);
  CHECK(r.tool_concurrency == 8);
  CHECK(r.timeout_ms == 120'000);
  CHECK(r.question_timeout_ms == 600'000);
  CHECK(r.token_budget == 0);
  CHECK(r.max_result_bytes == 102'400);
  CHECK(r.on_limit == on_limit::synthesize);
  CHECK(r.on_tool_error == on_tool_error::go_on);
  CHECK(r.status == status_mode::names);
  CHECK(r.empty_result_text == "No relevant content found");
  const auto c = ceiling_of(all);
  CHECK_FALSE(c.max_rounds);
  CHECK_FALSE(c.timeout_ms);
  CHECK_FALSE(c.token_budget);
}

TEST_CASE("limits: the model's settings stand over the configuration's and the ceiling over both") {
  const auto all = loaded(R"({
    "loop": {"maxRounds": 5, "timeoutMs": 9000, "onLimit": "stop", "emptyResultText": "nothing",
             "max": {"maxRounds": 6, "tokenBudget": 1000, "timeoutMs": 20000}},
    "models": {"m": {"api": "openai-chat", "model": "x", "loop": {"maxRounds": 7, "onToolError": "stop", "status": "off"}}}
  })");
  const auto plain = limits_for(all, nullptr);
  CHECK(plain.max_rounds == 5);
  CHECK(plain.timeout_ms == 9000);
  CHECK(plain.on_limit == on_limit::stop);
  CHECK(plain.empty_result_text == "nothing");
  CHECK(plain.token_budget == 1000);  // no budget is more than any
  const auto m = limits_for(all, all.find_model("m"));
  CHECK(m.max_rounds == 6);
  CHECK(m.timeout_ms == 9000);
  CHECK(m.on_tool_error == on_tool_error::stop);
  CHECK(m.status == status_mode::off);
  const auto c = ceiling_of(all);
  CHECK(c.max_rounds == 6);
  CHECK(c.token_budget == 1000);
  CHECK(c.timeout_ms == 20'000);
  CHECK_FALSE(c.max_calls);
}
