// Changes of entries that exist: takes one out, or switches one off or on. No I/O, except for the texts that the place
// has read.
#pragma once
#include "conf/environment.hpp"
#include "daemon/cli/config/config_change.hpp"
#include "daemon/cli/config/config_place.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::config {

/// Returns the names of all entries of mcpServers, in the order of merging.
std::vector<std::string> entry_names(const config_place& place);

/// Fails with errc::not_found and the nearest name unless an entry has this name.
result<void> check_entry(const config_place& place, const std::string& name);

/// Returns the changes that take the entry `name` out: a file of config.d that holds nothing else is removed.
/// errc::not_found: no such entry. errc::config: it stands in a file of the user's own, as the sentence says.
result<std::vector<file_change>> entry_removed(const config_place& place, const std::string& name);

/// Returns the changes after which the entry is disabled or enabled; none if it is already. The user's own file is not
/// touched: `disabled` stands in the entry's file of config.d, which is merged over it. errc::not_found: no such entry.
/// errc::config: another key or file goes on to decide; the sentence names it.
result<std::vector<file_change>> entry_switched(const config_place& place, const std::string& name, bool disabled,
                                                const conf::environment& env);

}  // namespace mcpbx::cli::config
