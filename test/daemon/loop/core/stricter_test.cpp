// Combination of two sets of limits: the stricter value of each limit.
#include "daemon/loop/core/stricter.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::stored;

namespace stricter_test {
namespace {

struct pair_of_values {
  const char* what;
  std::function<void(run_limits&)> strict, loose;
};

std::vector<pair_of_values> all_pairs() {
  std::vector<pair_of_values> all;
  const auto number = [&](const char* what, auto field, int strict, int loose) {
    all.push_back({what, [=](run_limits& l) { l.*field = strict; }, [=](run_limits& l) { l.*field = loose; }});
  };
  number("rounds", &run_limits::max_rounds, 0, 7);  // with 0 no tool is offered
  number("calls per round", &run_limits::max_calls_per_round, 3, 7);
  number("calls", &run_limits::max_calls, 3, 7);
  number("errors", &run_limits::max_consecutive_errors, 3, 7);
  number("errors, without a limit", &run_limits::max_consecutive_errors, 7, 0);
  number("repeated calls", &run_limits::max_repeated_calls, 3, 7);
  number("repeated calls, without a limit", &run_limits::max_repeated_calls, 7, 0);
  number("calls at once", &run_limits::tool_concurrency, 1, 7);
  number("time", &run_limits::timeout_ms, 3, 7);
  number("time, without a limit", &run_limits::timeout_ms, 7, 0);
  number("time of questions", &run_limits::question_timeout_ms, 3, 7);
  number("tokens", &run_limits::token_budget, 3, 7);
  number("tokens, without a limit", &run_limits::token_budget, 7, 0);
  number("bytes of a result", &run_limits::max_result_bytes, 3, 7);
  const auto value = [&](const char* what, auto field, auto strict, auto loose) {
    all.push_back({what, [=](run_limits& l) { l.*field = strict; }, [=](run_limits& l) { l.*field = loose; }});
  };
  value("a yes for what may destroy", &run_limits::approve_destructive, true, false);
  value("a yes after output", &run_limits::approve_after_output, true, false);
  value("a failed tool", &run_limits::on_tool_error, tool_error_policy::stop, tool_error_policy::go_on);
  value("no yes can come", &run_limits::approve, approval_mode::none, approval_mode::ask);
  value("a yes is asked for", &run_limits::approve, approval_mode::ask, approval_mode::all);
  return all;
}

}  // namespace

TEST_CASE("G24: of two sets of limits the stricter value of each holds, whichever has it") {
  for (const auto& p : all_pairs()) {
    CAPTURE(p.what);
    run_limits strict, loose;
    p.strict(strict);
    p.loose(loose);
    REQUIRE(strict != loose);
    CHECK(stricter(loose, strict) == strict);
    CHECK(stricter(strict, loose) == strict);
    CHECK(stricter(strict, strict) == strict);
    CHECK(stricter(loose, loose) == loose);
  }
}

TEST_CASE("G24: what merely shows something stays what it was") {
  run_limits mine, other;
  other.empty_result_text = "other";
  other.guidance = {false, "other"};
  other.status = status_mode::off;
  other.status_model = "other";
  other.round_prompts = round_prompt_mode::progressive;
  other.round_texts.first = "other";
  other.mark_results = other.server_instructions = true;
  other.on_limit = limit_policy::stop;
  CHECK(stricter(mine, other) == mine);
}

}  // namespace stricter_test
