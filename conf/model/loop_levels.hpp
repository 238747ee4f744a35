// The levels of loop settings: configuration, model entry, profile, request. Each one is laid over those before it,
// then the ceiling is applied.
#pragma once
#include "conf/model/model.hpp"

namespace mcpbx::conf {

/// Every default of the loop; numbers that are no limit by default, and the model of status lines, stay unset.
loop_settings default_loop();

/// Members that are set in `over` replace those of `base`.
void overlay(loop_settings& base, const loop_settings& over);

/// No number of `settings` above that of `max`; a token budget that is unset (none) becomes that of `max`.
void cap(loop_settings& settings, const loop_settings& max);

}  // namespace mcpbx::conf
