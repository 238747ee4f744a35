// The configuration's keys of `loop`, mapped to the members of run_limits. conf merges the levels (overlay, cap).
#include "daemon/app/models/limits.hpp"

#include "conf/loop/loop_numbers.hpp"
#include "conf/model/loop_levels.hpp"

#include <optional>
#include <string>
#include <variant>

namespace mcpbx::daemon {
namespace {

template <class T>
void lay(T& target, const std::optional<T>& value) {
  if (value) target = *value;
}

void fill(run_limits& r, const conf::loop_settings& s) {
  for (const auto& n : conf::loop_numbers()) lay(r.*n.settled, s.*n.open);
  lay(r.on_limit, s.on_limit);
  lay(r.on_tool_error, s.on_tool_error);
  lay(r.status, s.status);
  lay(r.round_prompts, s.round_prompts);
  lay(r.status_model, s.status_model);
  lay(r.approve_destructive, s.approve_destructive);
  lay(r.approve_after_output, s.approve_after_output);
  lay(r.mark_results, s.mark_results);
  lay(r.empty_result_text, s.empty_result_text);
  if (s.guidance) {
    const auto* text = std::get_if<std::string>(&*s.guidance);
    r.guidance_text = text != nullptr ? *text : "";
    r.guidance = text != nullptr ? !text->empty() : std::get<bool>(*s.guidance);
  }
  r.round_texts = s.round_texts;
}

}  // namespace

limit_bound bound_of(const conf::configuration& all, std::string_view key) {
  const auto& number = conf::find_loop_number(key);
  return {number.low, number.high, number.zero_is_none, number.ceiling(all.loop.max)};
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
