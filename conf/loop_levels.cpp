// One list of the members serves both operations.
#include "conf/loop_levels.hpp"

#include <algorithm>

namespace mcpbx::conf {
namespace {

template <class F>
void each_number(F f) {
  using l = loop_settings;
  f(&l::max_rounds);
  f(&l::max_calls_per_round);
  f(&l::max_calls);
  f(&l::max_consecutive_errors);
  f(&l::max_repeated_calls);
  f(&l::timeout_ms);
  f(&l::question_timeout_ms);
  f(&l::token_budget);
  f(&l::tool_concurrency);
  f(&l::max_result_bytes);
}

template <class F>
void each_other(F f) {
  using l = loop_settings;
  f(&l::on_limit);
  f(&l::on_tool_error);
  f(&l::round_prompts);
  f(&l::status);
  f(&l::status_model);
  f(&l::guidance);
  f(&l::approve_destructive);
  f(&l::empty_result_text);
}

}  // namespace

loop_settings default_loop() {
  loop_settings l;
  l.max_rounds = 10;
  l.max_calls_per_round = 64;
  l.max_calls = 256;
  l.max_consecutive_errors = 3;
  l.max_repeated_calls = 3;
  l.timeout_ms = milliseconds(120'000);
  l.question_timeout_ms = milliseconds(600'000);
  l.on_limit = limit_policy::synthesize;
  l.on_tool_error = tool_error_policy::go_on;
  l.round_prompts = round_prompt_mode::implicit;
  l.tool_concurrency = 8;
  l.status = status_mode::names;
  l.guidance = true;
  l.empty_result_text = "No relevant content found";
  l.max_result_bytes = 102'400;
  return l;
}

void overlay(loop_settings& base, const loop_settings& over) {
  const auto lay = [&](auto member) {
    if (over.*member) base.*member = over.*member;
  };
  each_number(lay);
  each_other(lay);
}

void cap(loop_settings& settings, const loop_settings& max) {
  each_number([&](auto member) {
    if (!(max.*member)) return;
    if (!(settings.*member) || *(settings.*member) > *(max.*member)) settings.*member = max.*member;
  });
}

}  // namespace mcpbx::conf
