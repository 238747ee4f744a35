// From the configuration's tool servers that have an address to the way in which the supervisor reaches them.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/options/server_entries.hpp"
#include "mcp/client/connect/connector.hpp"
#include "mcp/client/connect/remote/remote_connector.hpp"
#include "mcp/support/error.hpp"

#include <memory>
#include <string>

namespace mcpbx::daemon::options {

/// Bound on the calls that run at such a server at the same time; each has a connection of its own.
inline constexpr int most_remote_calls = 256;

/// Returns the way to the server of an entry with a url, with every reference resolved. Blocks when a reference reads a
/// file or runs a command. Relative files start at $HOME. Registers secret values with the redactor.
result<mcp::remote::remote_spec> make_remote_spec(const conf::model::server_entry& entry);

/// Returns the address of an entry for people: references as written, without the query; "" if it has none.
std::string shown_address(const conf::model::server_entry& entry);

/// Returns the factory of connectors for an entry with a url, which send the tokens of this principal
/// (server_means::tokens). References are resolved for every connection.
mcp::connect::connector_factory remote_of(const std::shared_ptr<const conf::model::server_entry>& entry,
                                          const server_means& with, const std::string& principal = {});

}  // namespace mcpbx::daemon::options
