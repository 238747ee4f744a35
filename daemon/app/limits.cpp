// The levels are conf's (overlay, cap); here each key is only given its place in run_limits.
#include "daemon/app/limits.hpp"

#include "conf/model/loop_levels.hpp"

#include <optional>
#include <string>
#include <variant>

namespace mcpbx::daemon {
namespace {

std::optional<std::int64_t> ms(const std::optional<conf::milliseconds>& value) {
  return value ? std::optional<std::int64_t>(value->count()) : std::nullopt;
}

template <class T, class V>
void lay(T& target, const std::optional<V>& value) {
  if (value) target = static_cast<T>(*value);
}

void fill(run_limits& r, const conf::loop_settings& s) {
  lay(r.max_rounds, s.max_rounds);
  lay(r.max_calls_per_round, s.max_calls_per_round);
  lay(r.max_calls, s.max_calls);
  lay(r.max_consecutive_errors, s.max_consecutive_errors);
  lay(r.max_repeated_calls, s.max_repeated_calls);
  lay(r.tool_concurrency, s.tool_concurrency);
  lay(r.timeout_ms, ms(s.timeout_ms));
  lay(r.question_timeout_ms, ms(s.question_timeout_ms));
  lay(r.token_budget, s.token_budget);
  lay(r.max_result_bytes, s.max_result_bytes);
  if (s.on_limit) r.on_limit = *s.on_limit == conf::limit_policy::stop ? on_limit::stop : on_limit::synthesize;
  if (s.on_tool_error)
    r.on_tool_error = *s.on_tool_error == conf::tool_error_policy::stop ? on_tool_error::stop : on_tool_error::go_on;
  if (s.status)
    r.status = *s.status == conf::status_mode::off     ? status_mode::off
               : *s.status == conf::status_mode::names ? status_mode::names
                                                       : status_mode::model;
  if (s.status_model) r.status_model = *s.status_model;
  if (s.approve_destructive) r.approve_destructive = *s.approve_destructive;
  if (s.approve_after_output) r.approve_after_output = *s.approve_after_output;
  if (s.mark_results) r.mark_results = *s.mark_results;
  if (s.empty_result_text) r.empty_result_text = *s.empty_result_text;
  if (s.guidance) {
    const auto* text = std::get_if<std::string>(&*s.guidance);
    r.guidance_text = text != nullptr ? *text : "";
    r.guidance = text != nullptr ? !text->empty() : std::get<bool>(*s.guidance);
  }
  if (s.round_prompts)
    r.round_prompts = *s.round_prompts == conf::round_prompt_mode::progressive ? round_prompt_mode::progressive
                                                                               : round_prompt_mode::implicit;
  r.round_texts = {s.round_texts.first, s.round_texts.middle, s.round_texts.last};
}

}  // namespace

limit_bound bound_of(const conf::configuration& all, std::string_view key) {
  const auto& number = conf::find_loop_number(key);
  const auto [least, most] = number.range();
  return {least, most, number.zero_is_none, number.ceiling(all.loop.max)};
}

run_limits limits_for(const conf::configuration& all, const conf::model_entry* model,
                      const conf::profile_entry* profile) {
  conf::loop_settings settings = conf::default_loop();
  conf::overlay(settings, all.loop);
  if (model != nullptr) conf::overlay(settings, model->loop);
  if (profile != nullptr) conf::overlay(settings, profile->loop);
  conf::cap(settings, all.loop.max);
  run_limits r;
  fill(r, settings);
  return r;
}

}  // namespace mcpbx::daemon
