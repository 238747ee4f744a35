// What the configuration says about pinned definitions and the audit.
#pragma once
#include "conf/environment.hpp"
#include "conf/model.hpp"
#include "daemon/guard/audit_log.hpp"
#include "daemon/guard/pin_keeper.hpp"

#include <optional>

namespace mcpbx::daemon {

/// Every configured server with its mode and where it comes from, as its entry has it; the file is pins.json in the
/// state directory.
pin_keeper::options pin_options(const conf::configuration& config, const conf::environment& env);

/// The audit's file: audit.jsonl in the state directory, or the path of `audit`; nullopt where it is off.
std::optional<audit_log::options> audit_options(const conf::configuration& config, const conf::environment& env);

}  // namespace mcpbx::daemon
