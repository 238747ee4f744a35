// Values of the door that hold from the daemon's start to its end; what may change between requests is in
// request_settings.
#include "daemon/app/options/door_options.hpp"

#include "daemon/app/options/framing.hpp"

#include <cstddef>

namespace mcpbx::daemon::options {

door::front_door::options door_options(const conf::model::configuration& config) {
  door::front_door::options o;
  o.version = MCPBX_VERSION;
  o.session.version = MCPBX_VERSION;
  o.max_callers = static_cast<std::size_t>(config.limits.callers);
  o.held.expiry = milliseconds(config.limits.held_call_ms);
  o.framing = caller_framing(config);
  return o;
}

}  // namespace mcpbx::daemon::options
