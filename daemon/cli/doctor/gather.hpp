// Gathers the facts for `mcpbx doctor`. Everything that may block has a bound on its time; nothing is changed, and no
// daemon is started.
#pragma once
#include "conf/config_files.hpp"
#include "daemon/cli/doctor/facts.hpp"
#include "daemon/cli/link/daemon_start.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::doctor {

/// The wish of a person: everything, or one entry.
struct wish {
  cli::place place;
  std::string only = {};  ///< a tool server or a model; "": everything
  bool online = false;    ///< make one request to each model
};

/// Looks at each path without following a link at its end.
std::vector<path_facts> look_at(const std::vector<std::string>& paths);

/// The configuration as this command reads it, with the facts about its files.
struct configuration_seen {
  config_facts facts;
  conf::loaded_files loaded;  ///< empty if a file does not answer
  bool usable = false;        ///< `loaded` was read, perhaps with errors
};
configuration_seen gather_config(const wish& w);

/// Looks for the programs of tool servers and resolves references of servers and models. `daemon_variable` returns a
/// variable of the daemon; empty: there is none, and this process's count.
using variable_lookup = std::function<std::optional<std::string>(std::string_view name)>;
struct entries_seen {
  std::vector<program_facts> programs;
  std::vector<model_facts> models;
};
entries_seen gather_entries(const conf::loaded_files& loaded, const variable_lookup& daemon_variable, bool has_unit);

/// Looks at the socket and asks the daemon that answers there. The connection stays open in `link`.
struct daemon_seen {
  socket_facts socket;
  std::optional<daemon_facts> daemon;
  std::optional<connected> link;
  variable_lookup variable;  ///< of the daemon; empty: it cannot be seen
};
daemon_seen gather_daemon(const wish& w);

/// Calls a method and waits at most `at_most` for its answer; nullopt: none came, an error came, or the connection
/// ended.
std::optional<raw_json> ask(daemon_connection& link, std::string_view method, std::string_view params,
                            std::chrono::milliseconds at_most);

/// Finds other daemons of this user. `own` is the one that answered, or 0.
std::vector<other_daemon> other_daemons(pid_t own);

unit_facts gather_unit();

/// Looks at the state folder, the journal and the token. `token` is the path of the token file, or "".
state_facts gather_state(const conf::configuration& config, const std::string& token);

/// Looks for other programs that start tool servers, and compares theirs with ours.
std::vector<host_facts> gather_hosts(const conf::configuration& config);

/// Has `mcpbxd --examine` try the addresses of the configuration and look at the journal.
void gather_addresses(const wish& w, facts& into);

/// Gathers all of that. `trial` starts a tool server that nobody else can try, and may be empty.
using server_trial = std::function<trial_facts(const conf::server_entry& entry)>;
facts gather(const wish& w, const server_trial& trial);

}  // namespace mcpbx::cli::doctor
