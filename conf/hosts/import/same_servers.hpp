// Finds the same server under several names or in several programs, and gives each server one name of ours.
#pragma once
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/model/model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf {

/// One server as it is written into our configuration, or the reason why it is not.
struct import_row {
  const foreign_server* server = nullptr;
  std::string name;                ///< in our configuration; "" if it is not taken
  std::string same_as;             ///< the name under which it is there already, or is taken from elsewhere
  node entry;                      ///< for our configuration
  std::vector<std::string> notes;  ///< sentences about what joining changed
};

/// Returns the name of another program's server as one of ours: 1 to 56 bytes, without characters that nobody sees.
std::string our_name(std::string_view name);

/// Decides over the servers of all programs in their order. Two servers are the same if command, arguments,
/// environment and folder, or address and headers, are equal: the first is taken, and of what the others forbid nothing
/// is lost. A name that another server has gets a number behind it. `existing` are the servers of our configuration.
std::vector<import_row> join_servers(std::span<const foreign_server> servers, std::span<const server_entry> existing);

/// Has every tool of an entry need a yes of the caller inside a run.
void ask_for_all(node& entry);

}  // namespace mcpbx::conf
