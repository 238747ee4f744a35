// Options of the guard that come from the configuration: pinned definitions and the audit.
#pragma once
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/guard/pins/pin_guard.hpp"

#include <optional>
#include <string>

namespace mcpbx::daemon::options {

/// Returns the text of a server's origin (origin_text). Its pins and every approval of a person are bound to it.
std::string origin_of(const conf::model::server_entry& entry);

/// Returns the mode and the origin of every configured server, as its entry has them. The file is pins.json in the
/// state directory.
pins::pin_guard::options pin_options(const conf::model::configuration& config, const conf::environment& env);

/// Returns the audit's file: audit.jsonl in the state directory, or the path of `audit`. Nullopt: the audit is off.
std::optional<audit::audit_log::options> audit_options(const conf::model::configuration& config,
                                                       const conf::environment& env);

}  // namespace mcpbx::daemon::options
