// From the configuration's tool servers to what the supervisor runs: command, complete environment, directory.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/references/process_specs.hpp"
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/async/keyed_lanes.hpp"
#include "mcp/client/connect/authorizer.hpp"
#include "mcp/client/connect/remote/remote_verdicts.hpp"
#include "mcp/client/stderr_lines.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/process/server_process.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::options {

/// Returns the tools that an entry lets through, and their names.
mcp::catalogs::item_filter tool_filter_of(const conf::model::server_entry& entry);
/// Returns the rules of the entries that are not disabled about their tools.
std::vector<stored::server_terms> server_terms_of(const conf::model::configuration& all);
bool has_plain_names(const conf::model::server_entry& entry, const conf::model::configuration& all);

/// Returns what passes of extensions to the server and from it: those that its entry names, and all others that it
/// lists if no rule of the entry or of the configuration is about its tools, prompts or resources.
mcp::protocol::extension_rules extension_rules_of(const conf::model::server_entry& entry,
                                                  const conf::model::configuration& all);

/// Returns everything of an entry that decides which process runs, for server_options::identity. References stand as
/// they are written: a value that changes behind one is no other entry.
std::string identity_of(const conf::model::server_entry& entry);

/// Returns the command line of an entry for people: references as written, values with a secret's name as ***; "" if it
/// has no command. Registers the secrets of addresses in it, which the caller redacts.
std::string shown_command(const conf::model::server_entry& entry);

/// The means to connect servers; all of it must outlive them.
struct server_means {
  std::string own_folder;  ///< as for make_process_spec()
  async::keyed_lanes& references;
  boost::asio::any_io_executor executor;
  mcp::process::process_launcher& launcher;
  time_source& time;
  http::clients::client& client;  ///< for servers with an address
  std::shared_ptr<mcp::remote::remote_verdicts> verdicts;
  mcp::rpc::line_framer::options framing;
  /// Returns the tokens for the connections of a server to this resolved address, or null. `principal`: the caller that
  /// they are for, if the entry is not shared; "": nobody's alone. Unset: there are no logins.
  std::function<std::shared_ptr<mcp::connect::authorizer>(const std::string& server, const std::string& url,
                                                          const std::string& principal)>
      tokens = {};
  /// Returns the book for the stderr of a server. Unset: there are no books.
  std::function<std::shared_ptr<mcp::clients::stderr_lines>(const std::string& server)> lines = {};
  /// Returns true if this caller has the same account at a server that is not shared as the person has. Unset: all
  /// have.
  std::function<bool(const std::string& server, const std::string& principal)> same_account = {};
};

/// The supervisor's options for an entry. Resolving happens at each start or connection, on a thread of `references`
/// when a reference needs it.
mcp::supervise::server_options make_server_options(const conf::model::server_entry& entry,
                                                   const conf::model::configuration& all, const server_means& with);

/// Returns the options of all entries, in the order of the configuration.
std::vector<mcp::supervise::server_options> supervised_servers(const conf::model::configuration& all,
                                                               const server_means& with);

}  // namespace mcpbx::daemon::options
