// The configuration's keys of `loop`, mapped to the members of run_limits. conf merges the levels (overlay, cap).
#include "daemon/app/models/limits.hpp"

#include "conf/loop/loop_choices.hpp"
#include "conf/loop/loop_numbers.hpp"
#include "conf/model/loop_levels.hpp"

#include <optional>

namespace mcpbx::daemon {
namespace {

template <class T>
void lay(T& target, const std::optional<T>& value) {
  if (value) target = *value;
}
void lay(conf::round_prompt_texts& target, const conf::round_prompt_texts& texts) {
  target = texts;
}

void fill(run_limits& r, const conf::loop_settings& s) {
  for (const auto& n : conf::loop_numbers()) lay(r.*n.settled, s.*n.open);
  conf::each_choice([&](const auto& m) { lay(r.*m.settled, s.*m.open); });
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
