// The switch itself is in entry_changes.cpp.
#include "daemon/cli/config/entry_switch.hpp"

#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/config/entry_changes.hpp"
#include "mcp/support/text.hpp"

namespace mcpbx::cli::config {

int switch_entry(context& c, const switch_options& o, bool disabled) {
  const auto env = conf::environment_for_places();
  const auto place = find_config_place(c, env);
  if (!place) return explain(c, place.error());
  const auto changes = entry_switched(*place, o.name, disabled, env);
  if (!changes) return explain(c, changes.error());
  if (changes->empty())
    c.screen->err_line(shell_word(o.name) + " is " + (disabled ? "disabled" : "enabled") + " already");
  return write_changes(c, *place, *changes, {}, o.wish);
}

}  // namespace mcpbx::cli::config
