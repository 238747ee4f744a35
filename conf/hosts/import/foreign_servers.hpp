// Servers of other programs as entries of ours. Reads no file: the caller gives the texts.
#pragma once
#include "conf/document/diagnostic.hpp"
#include "conf/document/jsonc.hpp"
#include "conf/hosts/programs/programs.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::conf::imports {

/// One file of a program, as it was read.
struct foreign_file {
  std::string path;  ///< for findings; its folder is where relative paths of a project's file begin
  std::string text;
  std::string folder;       ///< the project's folder; "": a file of the user
  bool rules_only = false;  ///< read for its prohibitions only: its own servers are not taken
};

/// Outcome for a server of another program.
enum class server_fate : std::uint8_t {
  taken,    ///< `entry` says the same with our keys
  skipped,  ///< `why` tells: nothing is missed without it
  refused   ///< `errors` tell: it cannot be kept as it is
};

/// One server of another program.
struct foreign_server {
  const programs::program* from = nullptr;
  std::string file;
  documents::place at;  ///< of its name
  std::string name;     ///< as the program has it
  std::string section;  ///< path of the entry in the file, as errors show it
  server_fate fate = server_fate::taken;
  std::string why;
  documents::node entry;  ///< an object with our keys
  std::vector<documents::diagnostic> errors, notices;
  std::vector<std::pair<std::string, std::string>> to_set;  ///< variables that must be set, with the program's words
};

/// The servers of one program, and the faults of its files.
struct foreign_reading {
  std::vector<documents::diagnostic> errors;  ///< of whole files: none of their servers is in `servers`
  std::vector<foreign_server> servers;
};

/// Places of our own daemon.
struct own_places {
  std::vector<std::string> addresses;  ///< HOST:PORT under which our daemon serves HTTP
};

/// Reads the servers in `files` of `from`; of two with the same name the first file's counts. If one of `beside`, the
/// files that narrow them, cannot be read, every server is refused. Throws std::bad_alloc only.
foreign_reading read_servers(const programs::program& from, std::span<const foreign_file> files,
                             std::span<const foreign_file> beside, const own_places& own);

}  // namespace mcpbx::conf::imports
