// One list of the numbers and one of the other members serve every operation.
#include "conf/model/loop_levels.hpp"

#include "conf/model/spec.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace mcpbx::conf {
namespace {

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
  f(&l::approve_after_output);
  f(&l::mark_results);
  f(&l::empty_result_text);
}

}  // namespace

std::span<const loop_number> loop_numbers() {
  using l = loop_settings;
  static const std::array<loop_number, 10> numbers{{
      {"maxRounds", &l::max_rounds},
      {"maxCallsPerRound", &l::max_calls_per_round},
      {"maxCalls", &l::max_calls},
      {"maxConsecutiveErrors", &l::max_consecutive_errors, true},
      {"maxRepeatedCalls", &l::max_repeated_calls, true},
      {"timeoutMs", &l::timeout_ms},
      {"questionTimeoutMs", &l::question_timeout_ms},
      {"tokenBudget", &l::token_budget, true},
      {"toolConcurrency", &l::tool_concurrency},
      {"maxResultBytes", &l::max_result_bytes},
  }};
  return numbers;
}

const loop_number& find_loop_number(std::string_view key) {
  const auto found = std::ranges::find(loop_numbers(), key, &loop_number::key);
  assert(found != loop_numbers().end());
  return *found;
}

std::optional<std::int64_t> loop_number::of(const loop_settings& s) const {
  if (const auto* count = std::get_if<count_member>(&member)) return s.*(*count);
  const auto& time = s.*std::get<time_member>(member);
  return time ? std::optional(std::int64_t{time->count()}) : std::nullopt;
}

void loop_number::set(loop_settings& s, std::optional<std::int64_t> value) const {
  if (const auto* count = std::get_if<count_member>(&member)) {
    s.*(*count) = value;
    return;
  }
  auto& time = s.*std::get<time_member>(member);
  time = value ? std::optional(milliseconds(*value)) : std::nullopt;
}

std::pair<std::int64_t, std::int64_t> loop_number::range() const {
  const auto* spec = root_section().find("loop")->inner->find(key);
  return {spec->low, spec->high};
}

std::optional<std::int64_t> loop_number::ceiling(const loop_settings& max) const {
  const auto most = of(max);
  return zero_is_none && most == 0 ? std::nullopt : most;
}

bool loop_number::exceeds(std::int64_t value, std::int64_t ceiling) const {
  return (zero_is_none && value == 0) || value > ceiling;
}

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
  for (const auto& n : loop_numbers())
    if (const auto value = n.of(over)) n.set(base, value);
  each_other([&](auto member) {
    if (over.*member) base.*member = over.*member;
  });
  for (const auto text : {&round_prompt_texts::first, &round_prompt_texts::middle, &round_prompt_texts::last})
    if (over.round_texts.*text) base.round_texts.*text = over.round_texts.*text;
}

void cap(loop_settings& settings, const loop_settings& max) {
  for (const auto& n : loop_numbers()) {
    const auto most = n.ceiling(max), value = n.of(settings);
    if (most && (!value || n.exceeds(*value, *most))) n.set(settings, most);
  }
}

}  // namespace mcpbx::conf
