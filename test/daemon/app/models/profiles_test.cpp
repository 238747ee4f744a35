// Tests of a request's start values: configuration, model and profile merged.
#include "daemon/app/models/profiles.hpp"

#include "daemon/app/models/models.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/captured_output.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::models;
using namespace mcpbx::daemon::references;
using namespace mcpbx::daemon::run;
using mcpbx::daemon::test::loaded;

namespace {

const char* const sample = R"({
  "models": {"big": {"api": "openai-chat", "model": "x", "loop": {"maxRounds": 6, "maxCalls": 60, "timeoutMs": 6000}},
             "small": {"api": "rehearsal", "loop": {"maxRounds": 2}}},
  "defaultModel": "small",
  "loop": {"maxRounds": 5, "maxCalls": 50, "tokenBudget": 500, "timeoutMs": 5000, "max": {"maxRounds": 8}},
  "profiles": {"reader": {"model": "big", "system": "Read only.", "approve": ["files__*"],
                          "tools": {"allow": ["files__*"], "deny": ["*__delete"], "rename": {"files__read": "read"}}, "loop": {"maxCalls": 70, "maxRounds": 9}},
               "bare": {}}
})";

result<chat_base> base_of(const conf::model::configuration& all, std::string_view model, std::string_view profile) {
  return base_for(all, start_values(all), model, profile);
}

}  // namespace

TEST_CASE("L4: configuration, model and profile are laid over each other, and loop.max over all") {
  const auto all = loaded(sample);
  const auto b = base_of(all, "", "reader");
  REQUIRE(b.has_value());
  CHECK(b->profile == "reader");
  CHECK(b->model == "big");
  CHECK(b->system == "Read only.");
  CHECK(b->allow == std::vector<std::string>{"files__*"});
  CHECK(b->deny == std::vector<std::string>{"*__delete"});
  CHECK(b->approve == std::vector<std::string>{"files__*"});
  CHECK(b->rename.size() == 1);
  CHECK(b->rename.at("files__read") == "read");
  CHECK(b->limits.max_rounds == 8);      // the profile's 9, under loop.max
  CHECK(b->limits.max_calls == 70);      // the profile's
  CHECK(b->limits.timeout_ms == 6000);   // the model's
  CHECK(b->limits.token_budget == 500);  // the configuration's
  const auto other = base_of(all, "small", "reader");
  CHECK(other->model == "small");
  CHECK(other->limits.timeout_ms == 5000);
  CHECK(other->limits.max_calls == 70);
}

TEST_CASE("profiles: without one the model decides alone, and a profile without a model takes the default") {
  const auto all = loaded(sample);
  CHECK(base_of(all, "", "")->limits.max_rounds == 2);
  CHECK(base_of(all, "big", "")->limits.max_rounds == 6);
  CHECK(base_of(all, "big", "")->profile == "");
  const auto bare = base_of(all, "", "bare");
  CHECK(bare->limits.max_rounds == 2);
  CHECK(meant_model(all, "profile:bare") == "small");
}

TEST_CASE("profiles: the default may be one, for requests that name neither model nor profile") {
  const auto all = loaded(R"({"models": {"m": {"api": "rehearsal"}}, "defaultModel": "profile:p",
    "profiles": {"p": {"model": "m/x", "system": "s"}, "q": {}}})");
  const auto b = base_of(all, "", "");
  CHECK(b->profile == "p");
  CHECK(b->model == "m/x");
  CHECK(b->system == "s");
  CHECK(base_of(all, "m", "")->profile == "");
  CHECK(base_of(all, "", "q")->system == "");
  CHECK(meant_model(all, "profile:q") == "m/x");
  CHECK(model_entry_of(all, "")->name == "m");
}

TEST_CASE("E1: an unknown profile is told with the nearest name") {
  const auto b = base_of(loaded(sample), "", "raeder");
  REQUIRE_FALSE(b.has_value());
  CHECK(b.error().message ==
        "there is no profile \"raeder\" (did you mean \"reader\"?); there are \"reader\", \"bare\"; `mcpbx config "
        "show` shows "
        "them");
  std::string many = R"({"profiles": {"p0": {})";
  for (int i = 1; i < 12; ++i) many += ",\"p" + std::to_string(i) + "\": {}";
  const auto of_many = base_of(loaded(many + "}}"), "", "nothing");
  CHECK(of_many.error().message.ends_with("\"p8\", \"p9\" and 2 more; `mcpbx config show` shows them"));
  const auto of_one = base_of(loaded(R"({"profiles": {"p": {}}})"), "", "nothing");
  CHECK(of_one.error().message == "there is no profile \"nothing\"; there is \"p\"; `mcpbx config show` shows them");
  const auto none = base_of(loaded("{}"), "", "x");
  CHECK(none.error().message ==
        "there is no profile \"x\"; the configuration has no \"profiles\", `mcpbx edit` adds them");
}

TEST_CASE("profiles: a system prompt may come from a variable, and one that is unset is told with its place") {
  const auto all = loaded(R"({"profiles": {"p": {"system": "${env:MCPBX_TEST_A}"}}})");
  {
    const mcpbx::test::changed_variable set("MCPBX_TEST_A", "Be brief.");
    CHECK(base_of(all, "", "p")->system == "Be brief.");
  }
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
  auto b = base_of(all, "", "p");
  REQUIRE(b.has_value());  // tools and limits of the profile apply all the same
  REQUIRE_FALSE(b->system.has_value());
  CHECK(b->system.error().message.find("profiles.p.system") != std::string::npos);
  run_request r;
  const auto begun = begin_with(r, std::move(*b));
  REQUIRE_FALSE(begun.has_value());
  CHECK(begun.error().message.find("profiles.p.system") != std::string::npos);
}
