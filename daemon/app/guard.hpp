// What the configuration says about pinned definitions and the audit.
#pragma once
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/guard/pins/pin_keeper.hpp"

#include <optional>
#include <string>

namespace mcpbx::daemon {

/// Where a server comes from, see origin_text: what its pins and every approval of a person are bound to.
std::string origin_of(const conf::server_entry& entry);

/// Every configured server with its mode and where it comes from, as its entry has it; the file is pins.json in the
/// state directory.
pin_keeper::options pin_options(const conf::configuration& config, const conf::environment& env);

/// The audit's file: audit.jsonl in the state directory, or the path of `audit`; nullopt where it is off.
std::optional<audit_log::options> audit_options(const conf::configuration& config, const conf::environment& env);

}  // namespace mcpbx::daemon
