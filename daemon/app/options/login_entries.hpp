// From the configuration's tool servers that have an address to the entries that people log in to.
#pragma once
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "daemon/app/options/server_entries.hpp"
#include "daemon/logins/entry_tokens.hpp"
#include "daemon/logins/logins.hpp"

#include <string>
#include <vector>

namespace mcpbx::daemon::options {

/// Returns an entry for each server with a url that is not disabled, in the order of the configuration. Its settings
/// are resolved on a thread of `with.references` when they read files or run commands.
std::vector<logins::login_entry> login_entries(const conf::model::configuration& all, const server_means& with);

/// Returns the principals beside the person that may call tools, and so have logins of their own at entries that are
/// not shared.
std::vector<std::string> login_callers(const conf::model::configuration& all);

/// Returns the place and the key of the file of tokens. The key comes from systemd's credentials, or from the Secret
/// Service by a child of this program.
logins::logins::options login_options(const conf::environment& env);

}  // namespace mcpbx::daemon::options
