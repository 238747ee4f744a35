// Finds the same server under several names or in several programs, and gives each server one name of ours.
#pragma once
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/model/model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::imports {

/// One server as it is written into our configuration, or the reason why it is not.
struct import_row {
  const foreign_server* server = nullptr;
  std::string name;                ///< in our configuration; "" if it is not taken
  std::string same_as;             ///< the name under which it is there already, or is taken from elsewhere
  documents::node entry;           ///< for our configuration
  std::vector<std::string> notes;  ///< sentences about what joining changed
  std::vector<std::string> marks;  ///< origin_mark() of this server and of those that are joined to it
};

/// A server of our configuration, and the mark of the one that it was imported from.
struct import_origin {
  std::string name, mark;
};

/// Returns the comment that a file of ours begins with if its server was imported from this one: a line without its
/// end. By it a second import knows the server again when the entry was edited.
std::string origin_mark(const foreign_server& server);
/// Returns the marks at the beginning of a file of ours.
std::vector<std::string> origin_marks_in(std::string_view text);

/// Returns a mark for a file with many entries, which names the one that it is about.
std::string mark_of_entry(std::string_view mark, std::string_view name);
/// Returns the marks of such a file, wherever they stand, with the names of their entries.
std::vector<import_origin> entry_origins_in(std::string_view text);
/// Returns such a file without the lines with marks of one entry.
std::string without_marks_of(std::string_view text, std::string_view name);

/// Returns the name of another program's server as one of ours: 1 to 56 bytes, without characters that nobody sees.
std::string our_name(std::string_view name);

/// Decides over the servers of all programs in their order; README.md says which are the same. `existing` are the
/// servers of our configuration, `origins` tells from which server one of them was imported.
std::vector<import_row> join_servers(std::span<const foreign_server> servers,
                                     std::span<const model::server_entry> existing,
                                     std::span<const import_origin> origins = {});

/// Has every tool of an entry need a yes of the caller inside a run.
void ask_for_all(documents::node& entry);

}  // namespace mcpbx::conf::imports
