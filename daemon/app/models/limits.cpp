// The configuration's keys of `loop`, mapped to the members of run_limits. conf merges the levels (overlay, cap).
#include "daemon/app/models/limits.hpp"

#include "conf/loop/loop_choices.hpp"
#include "conf/loop/loop_numbers.hpp"
#include "conf/model/loop_levels.hpp"

#include <optional>

namespace mcpbx::daemon::models {
namespace {

template <class T>
void lay(T& target, const std::optional<T>& value) {
  if (value) target = *value;
}
void lay(conf::loop::round_prompt_texts& target, const conf::loop::round_prompt_texts& texts) {
  target = texts;
}

void fill(stored::run_limits& r, const conf::model::loop_settings& s) {
  for (const auto& n : conf::loop::loop_numbers()) lay(r.*n.settled, s.*n.open);
  conf::loop::each_choice([&](const auto& m) { lay(r.*m.settled, s.*m.open); });
}

}  // namespace

chat::limit_bound bound_of(const conf::model::configuration& all, std::string_view key) {
  const auto& number = conf::loop::find_loop_number(key);
  return {number.low, number.high, number.zero_is_none, number.ceiling(all.loop.max)};
}

stored::run_limits limits_for(const conf::model::configuration& all, const conf::model::model_entry* model,
                              const conf::model::profile_entry* profile) {
  conf::model::loop_settings settings = conf::model::default_loop();
  conf::model::overlay(settings, all.loop);
  if (model != nullptr) conf::model::overlay(settings, model->loop);
  if (profile != nullptr) conf::model::overlay(settings, profile->loop);
  conf::model::cap(settings, all.loop.max);
  stored::run_limits r;
  fill(r, settings);
  return r;
}

}  // namespace mcpbx::daemon::models
