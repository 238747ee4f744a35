// Defaults, overlay and ceiling of loop settings. All go by the tables of conf/loop.
#include "conf/model/loop_levels.hpp"

#include <optional>

namespace mcpbx::conf::model {
namespace {

template <class T>
void lay(std::optional<T>& base, const std::optional<T>& over) {
  if (over) base = over;
}
void lay(loop::round_prompt_texts& base, const loop::round_prompt_texts& over) {
  lay(base.first, over.first);
  lay(base.middle, over.middle);
  lay(base.last, over.last);
}

}  // namespace

loop_settings default_loop() {
  loop_settings l;
  const loop::settled_counts usual;
  for (const auto& n : loop::loop_numbers())
    if (!n.zero_is_none || usual.*n.settled != 0) l.*n.open = usual.*n.settled;
  loop::each_choice([&, usual = loop::settled_choices()](const auto& m) {
    if (loop::says_something(usual.*m.settled)) l.*m.open = usual.*m.settled;
  });
  return l;
}

void overlay(loop_settings& base, const loop_settings& over) {
  for (const auto& n : loop::loop_numbers()) lay(base.*n.open, over.*n.open);
  loop::each_choice([&](const auto& m) { lay(base.*m.open, over.*m.open); });
}

void cap(loop_settings& settings, const loop_settings& max) {
  for (const auto& n : loop::loop_numbers()) {
    const auto most = n.ceiling(max), value = settings.*n.open;
    if (most && (!value || n.exceeds(*value, *most))) settings.*n.open = most;
  }
}

}  // namespace mcpbx::conf::model
