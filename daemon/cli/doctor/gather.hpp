// Gathers the facts for `mcpbx doctor`. Everything that may block has a bound on its time; nothing is changed, and no
// daemon is started.
#pragma once
#include "conf/config_files.hpp"
#include "daemon/cli/doctor/facts.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "daemon/cli/doctor/path_looks.hpp"
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
  link::place place;
  std::string only = {};  ///< a tool server or a model; "": everything
  bool online = false;    ///< make one request to each model
};

/// The configuration as this command reads it, with the facts about its files.
struct configuration_seen {
  config_facts facts;
  conf::loaded_files loaded;  ///< empty if a file does not answer
  bool usable = false;        ///< `loaded` was read, perhaps with errors
};
configuration_seen gather_config(const wish& w, path_looks& looks);

/// Adds checks that look for the programs of tool servers and resolve references of servers and models. Those that are
/// added refer to the arguments. `daemon_variable` returns a variable of the daemon; empty: there is none, and this
/// process's count.
using variable_lookup = std::function<std::optional<std::string>(std::string_view name)>;
void add_entry_checks(check_list& checks, const conf::loaded_files& loaded, const variable_lookup& daemon_variable,
                      bool has_unit, facts& into);

/// Looks at the socket and asks the daemon that answers there. The connection stays open in `link`.
struct daemon_seen {
  socket_facts socket;
  std::optional<daemon_facts> daemon;
  std::optional<link::connected> link;
  variable_lookup variable;  ///< of the daemon; empty: it cannot be seen
};
daemon_seen gather_daemon(const wish& w, path_looks& looks);

/// Calls a method and waits at most `at_most` for its answer; nullopt: none came, an error came, or the connection
/// ended.
std::optional<json::raw_json> ask(link::daemon_connection& link, std::string_view method, std::string_view params,
                                  std::chrono::milliseconds at_most);

/// Finds other daemons of this user with the home folder of this process. `own` is the one that answered, or 0.
std::vector<other_daemon> other_daemons(pid_t own);

/// Finds the process that holds a lock on a file for itself, by the list of the kernel, so that nobody is disturbed by
/// a try. `kind` is the kernel's word, FLOCK or POSIX. 0: nobody, -1: somebody unknown.
pid_t holder_of_lock(const path_facts& file, std::string_view kind);

unit_facts gather_unit(path_looks& looks);

/// Looks at the state folder, the journal and the token. `token` is the path of the token file, or "".
state_facts gather_state(const conf::model::configuration& config, const std::string& token, path_looks& looks);

/// Adds checks that look for other programs that start tool servers, and compare theirs with ours. They refer to the
/// arguments.
void add_host_checks(check_list& checks, const conf::model::configuration& config, facts& into);

/// Has `mcpbxd --examine` try the addresses of the configuration and look at the journal. Does nothing if there is
/// no address and the journal is missing, or held by the daemon that answers, which tells its troubles itself.
void gather_addresses(const wish& w, facts& into);

/// Gathers all of that. `trial` starts a tool server that nobody else can try, and may be empty.
using server_trial = std::function<trial_facts(const conf::model::server_entry& entry)>;
facts gather(const wish& w, const server_trial& trial);

}  // namespace mcpbx::cli::doctor
