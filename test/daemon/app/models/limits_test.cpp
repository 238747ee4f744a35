// Tests of a run's limits: precedence of the configuration's levels.
#include "daemon/app/models/limits.hpp"

#include "conf/loop/loop_numbers.hpp"
#include "conf/model/loop_levels.hpp"
#include "daemon/app/models/profiles.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/captured_output.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::models;
using namespace mcpbx::daemon::references;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using mcpbx::daemon::test::loaded;

namespace {

// As requests have them, of a configuration that outlives what is made of it.
chat_defaults defaults_of(const conf::model::configuration& all) {
  chat_defaults defaults;
  defaults.base = [&all](std::string_view model, std::string_view profile) {
    return base_for(all, start_values(all), model, profile);
  };
  defaults.bound = [&all](std::string_view key) { return bound_of(all, key); };
  return defaults;
}

}  // namespace

TEST_CASE("L4 L8: without a word the documented defaults hold and nothing is a ceiling") {
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
  CHECK(r.on_limit == limit_policy::synthesize);
  CHECK(r.on_tool_error == tool_error_policy::go_on);
  CHECK(r.status == status_mode::names);
  CHECK(r.empty_result_text == "No relevant content found");
  for (const auto& n : conf::loop::loop_numbers()) CHECK_FALSE(bound_of(all, n.key).ceiling);
}

TEST_CASE("L4 L8: the model's settings stand over the configuration's and the ceiling over both") {
  const auto all = loaded(R"({
    "loop": {"maxRounds": 5, "timeoutMs": 9000, "onLimit": "stop", "emptyResultText": "nothing",
             "max": {"maxRounds": 6, "tokenBudget": 1000, "timeoutMs": 20000}},
    "models": {"m": {"api": "openai-chat", "model": "x", "loop": {"maxRounds": 7, "onToolError": "stop", "status": "off"}}}
  })");
  const auto plain = limits_for(all, nullptr);
  CHECK(plain.max_rounds == 5);
  CHECK(plain.timeout_ms == 9000);
  CHECK(plain.on_limit == limit_policy::stop);
  CHECK(plain.empty_result_text == "nothing");
  CHECK(plain.token_budget == 1000);  // no budget is more than any
  const auto m = limits_for(all, all.find_model("m"));
  CHECK(m.max_rounds == 6);
  CHECK(m.timeout_ms == 9000);
  CHECK(m.on_tool_error == tool_error_policy::stop);
  CHECK(m.status == status_mode::off);
  CHECK(bound_of(all, "maxRounds").ceiling == 6);
  CHECK(bound_of(all, "tokenBudget").ceiling == 1000);
  CHECK(bound_of(all, "timeoutMs").ceiling == 20'000);
  CHECK_FALSE(bound_of(all, "maxCalls").ceiling);
}

TEST_CASE("L8 G24: limits that a run brings from before a restart are held to each ceiling and are else as they were") {
  const auto all = loaded(R"({"loop": {"onLimit": "stop",
    "max": {"maxRounds": 2, "tokenBudget": 1000, "timeoutMs": 20000, "maxCalls": 70}}})");
  run_request brought;
  brought.limits.max_calls = 69;
  brought.limits.empty_result_text = "nothing";
  brought.limits.round_texts.last = "now";
  auto expected = brought.limits;
  expected.max_rounds = 2;
  expected.token_budget = 1000;
  expected.timeout_ms = 20'000;
  REQUIRE(keep_to_present_terms(brought, defaults_of(all)));
  CHECK(brought.limits == expected);
  brought.limits.max_calls = 70'000;  // as requested before the ceiling was lowered
  brought.asked_limits = raw_json::literal(R"({"maxCalls": 70000, "maxRounds": 1})");
  REQUIRE(keep_to_present_terms(brought, defaults_of(all)));
  CHECK(brought.limits.max_calls == 70);
  CHECK(brought.limits.max_rounds == 1);
}

TEST_CASE("G24: a run goes on after a restart though the prompt of its profile, which it has, cannot be read now") {
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
  const auto all = loaded(R"({"profiles": {"p": {"system": "${env:MCPBX_TEST_A}", "tools": {"deny": ["a"]}}}})");
  run_request brought;
  brought.profile = "p";
  REQUIRE(keep_to_present_terms(brought, defaults_of(all)));
  CHECK(brought.tools.beside->deny == std::vector<std::string>{"a"});
}

TEST_CASE("G24: a run from before a restart keeps to its profile as it is now, where that is stricter") {
  const auto narrow = loaded(R"({"loop": {"maxCalls": 100}, "profiles": {"p": {"tools": {"allow": ["files__*"], "deny":
    ["files__rm"]}, "approve": ["files__write"], "loop": {"maxRounds": 3, "approveDestructive": true,
    "onToolError": "stop"}}}})");
  run_request brought;
  brought.profile = "p";
  brought.tools.allow = {"*"};
  brought.approve = {"mail__*"};
  brought.limits.max_calls = 200;
  kept_terms kept;
  kept.servers = std::make_shared<const std::vector<server_terms>>();
  brought.tools.beside = std::make_shared<const kept_terms>(kept);
  const auto before = brought;
  REQUIRE(keep_to_present_terms(brought, defaults_of(narrow)));
  CHECK(brought.limits.max_rounds == 3);
  CHECK(brought.limits.max_calls == 100);
  CHECK(brought.limits.approve_destructive);
  CHECK(brought.limits.on_tool_error == tool_error_policy::stop);
  CHECK(brought.approve == std::vector<std::string>{"mail__*", "files__write"});
  CHECK(brought.tools.allow == before.tools.allow);
  REQUIRE(brought.tools.beside);
  CHECK(brought.tools.beside->allow == std::vector<std::string>{"files__*"});
  CHECK(brought.tools.beside->deny == std::vector<std::string>{"files__rm"});
  CHECK(brought.tools.beside->servers == kept.servers);

  SUBCASE("what the run's request said itself stands, but not above what it began with") {
    brought = before;
    brought.limits.max_rounds = 8;
    brought.limits.approve = approval_mode::all;
    brought.asked_limits = raw_json::literal(R"({"maxRounds": 9, "approveDestructive": false})");
    REQUIRE(keep_to_present_terms(brought, defaults_of(narrow)));
    CHECK(brought.limits.max_rounds == 8);
    CHECK_FALSE(brought.limits.approve_destructive);
    CHECK(brought.limits.approve == approval_mode::all);
  }
  SUBCASE("without that profile it does not go on") {
    brought = before;
    const auto without = loaded("{}");
    const auto held = keep_to_present_terms(brought, defaults_of(without));
    REQUIRE_FALSE(held);
    CHECK(held.error().message.find("there is no profile \"p\"") != std::string::npos);
  }
}

TEST_CASE("limits: a request takes the same numbers as the file") {
  const auto all = loaded("{}");
  chat_defaults defaults;
  defaults.bound = [&](std::string_view key) { return bound_of(all, key); };
  for (const auto& n : conf::loop::loop_numbers()) {
    const auto least = n.low, most = n.high;
    CHECK((least == 0) == (n.zero_is_none || n.key == "maxRounds"));
    for (const auto value : {least - 1, least, most, most + 1}) {
      CAPTURE(n.key);
      CAPTURE(value);
      const auto object = "{\"" + std::string(n.key) + "\":" + std::to_string(value) + "}";
      const std::array files{conf::source_text{"c", "{\"loop\":" + object + "}"}};
      mcp::server::param_reader in(raw_json::own("{\"input\":\"q\",\"limits\":" + object + "}"));
      read_chat(in, defaults);
      const bool right = value >= least && value <= most;
      CHECK(conf::load(files, {}).ok() == right);
      CHECK(in.finish().has_value() == right);
    }
  }
}

TEST_CASE("limits: 0 is no limit in the file too, below every ceiling, and no ceiling in loop.max") {
  const auto all = loaded(R"({"loop": {"maxRounds": 0, "maxConsecutiveErrors": 0, "max": {"maxRepeatedCalls": 0}},
    "models": {"m": {"api": "rehearsal", "loop": {"maxRepeatedCalls": 0, "tokenBudget": 0}}}})");
  const auto r = limits_for(all, all.find_model("m"));
  CHECK(r.max_rounds == 0);
  CHECK(r.max_consecutive_errors == 0);
  CHECK(r.max_repeated_calls == 0);
  CHECK(r.token_budget == 0);
  CHECK_FALSE(bound_of(all, "maxRepeatedCalls").ceiling);
  const auto bounded = loaded(R"({"loop": {"max": {"maxRepeatedCalls": 4, "tokenBudget": 5}},
    "models": {"m": {"api": "rehearsal", "loop": {"maxRepeatedCalls": 0, "tokenBudget": 0}}}})");
  CHECK(limits_for(bounded, bounded.find_model("m")).max_repeated_calls == 4);
  CHECK(limits_for(bounded, bounded.find_model("m")).token_budget == 5);
}

TEST_CASE("L6, L7: guidance and the texts of rounds come from the nearest level that has them") {
  const auto all = loaded(R"({
    "loop": {"guidance": "ours", "roundPrompts": "progressive", "roundPromptTexts": {"first": "one", "last": "three"}},
    "models": {"m": {"api": "rehearsal", "loop": {"guidance": false, "roundPromptTexts": {"last": ""}}}},
    "profiles": {"p": {"loop": {"guidance": true, "roundPromptTexts": {"middle": "two"}}}}
  })");
  const auto plain = limits_for(all, nullptr);
  CHECK(plain.guidance.on);
  CHECK(plain.guidance.text == "ours");
  CHECK(plain.round_prompts == round_prompt_mode::progressive);
  CHECK(plain.round_texts.first == "one");
  CHECK_FALSE(plain.round_texts.middle);
  const auto m = limits_for(all, all.find_model("m"));
  CHECK_FALSE(m.guidance.on);
  CHECK(m.round_texts.first == "one");
  CHECK(m.round_texts.last == "");
  const auto p = limits_for(all, all.find_model("m"), all.find_profile("p"));
  CHECK(p.guidance.on);
  CHECK(p.guidance.text == "");
  CHECK(p.round_texts.middle == "two");
  CHECK(p.round_texts.last == "");
}

TEST_CASE("L15: the status and who writes it come from the nearest level that says it") {
  const auto all = loaded(R"({
    "loop": {"status": "model", "statusModel": "m"},
    "models": {"m": {"api": "rehearsal", "loop": {"status": "names"}}},
    "profiles": {"p": {"loop": {"status": "off", "statusModel": "m/x"}}}
  })");
  CHECK(limits_for(all, nullptr).status == status_mode::model);
  CHECK(limits_for(all, nullptr).status_model == "m");
  CHECK(limits_for(all, all.find_model("m")).status == status_mode::names);
  const auto p = limits_for(all, all.find_model("m"), all.find_profile("p"));
  CHECK(p.status == status_mode::off);
  CHECK(p.status_model == "m/x");
}
