// The options of the front door that come from the configuration.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/front/front_door.hpp"

namespace mcpbx::daemon::options {

/// Returns version, number of callers and framing. The wiring adds the socket's path and what connects the door with
/// other parts.
door::front_door::options door_options(const conf::model::configuration& config);

}  // namespace mcpbx::daemon::options
