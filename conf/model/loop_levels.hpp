// The levels of loop settings: configuration, model entry, profile, request. Each one is laid over those before it,
// then the ceiling is applied.
#pragma once
#include "conf/model/model.hpp"

namespace mcpbx::conf::model {

/// Returns the defaults of the loop. A setting whose default is no limit, off or no text stays unset.
loop_settings default_loop();

/// Replaces members of `base` by those that are set in `over`.
void overlay(loop_settings& base, const loop_settings& over);

/// Lowers every number of `settings` to that of `max`. An unset token budget (no limit) becomes that of `max`.
void cap(loop_settings& settings, const loop_settings& max);

}  // namespace mcpbx::conf::model
