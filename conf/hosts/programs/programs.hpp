// Table of the programs whose MCP servers can be imported, and into which mcpbx can be entered.
#pragma once
#include "conf/hosts/read/foreign_tree.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::conf::programs {

/// Form of the servers in a program's file.
enum class server_shape : std::uint8_t {
  by_name,  ///< an object: the name, then the entry
  list      ///< a list of objects with a member "name"
};

/// Unit of the program's key `timeout`.
enum class time_unit : std::uint8_t { none, seconds, milliseconds };

/// Subject of the program's key `timeout`.
enum class time_subject : std::uint8_t {
  call,    ///< one call
  start,   ///< connecting
  listing  ///< listing tools only, which says nothing about calls
};

/// The way of a program to switch a server off in its own file.
enum class off_switch : std::uint8_t {
  none,           ///< it has none: the entry is taken out (JSON), or must be by hand
  disabled,       ///< "disabled": true
  enabled_false,  ///< "enabled": false
  is_active,      ///< "isActive": false
  active,         ///< "active": false
  excluded        ///< its name in "mcp": {"excluded": […]}
};

/// Forms of variables that a program replaces in its entries, as bits.
namespace variable_form {
inline constexpr unsigned env_named = 1;        ///< ${env:NAME}
inline constexpr unsigned braced = 2;           ///< ${NAME} and ${NAME:-default}
inline constexpr unsigned dollar = 4;           ///< $NAME
inline constexpr unsigned curly = 8;            ///< {env:NAME} and {file:PATH}
inline constexpr unsigned file = 16;            ///< ${file:PATH}
inline constexpr unsigned command = 32;         ///< ${cmd: WORDS}
inline constexpr unsigned secrets = 64;         ///< ${{ secrets.NAME }} and ${{ inputs.NAME }}
inline constexpr unsigned input = 128;          ///< ${input:ID}
inline constexpr unsigned editor = 256;         ///< ${workspaceFolder}, ${userHome} and the like
inline constexpr unsigned shell = 512;          ///< $(command)
inline constexpr unsigned double_curly = 1024;  ///< {{NAME}}
}  // namespace variable_form

/// One program.
struct program {
  std::string_view name;   ///< the word that people type: "claude-code"
  std::string_view title;  ///< "Claude Code"
  /// Files of the user that list servers; of two with the same server the first counts. `~/` stands for the home
  /// folder, `~/.config/` also for $XDG_CONFIG_HOME, `$NAME/` for a variable. The first that exists is the one that our
  /// entry is written to, else the first of all. A path from the root is of the machine: it is read only.
  std::array<std::string_view, 6> files{};
  std::array<std::string_view, 4> beside{};         ///< files that narrow servers of the files above
  std::array<std::string_view, 3> project_files{};  ///< ends of paths by which a project's file is recognised
  std::array<std::string_view, 2> project_rules{};  ///< files in the folder of a project that narrow its servers
  bool rules_in_files = false;                      ///< the files above hold rules about servers of the others, too
  read::foreign_format format = read::foreign_format::json;
  std::string_view section = "mcpServers";  ///< key of the servers; "mcp/servers" is two levels
  server_shape shape = server_shape::by_name;
  unsigned variables = 0;  ///< bits of variable_form; 0: everything is text
  time_unit timeout = time_unit::none;
  time_subject times = time_subject::call;
  bool empty_allows_all = false;  ///< an empty list of allowed tools allows all of them, not none
  bool sse_without_word = false;  ///< `url` without a word for the transport is HTTP+SSE
  bool globs = false;             ///< names in its lists of tools are globs
  bool asks = true;               ///< asks before each call unless told otherwise
  off_switch off = off_switch::none;
  std::string_view extra = "";     ///< further members of our own entry there, as JSON members; after command and args
  std::string_view own_file = "";  ///< the file that holds our entry alone, or ""
  std::string_view note = "";      ///< said after `install`: what the person must do or know
};

/// Returns all programs, in the order in which they are listed and searched.
std::span<const program> all_programs();

/// Returns the program called `name`; null: none.
const program* find_program(std::string_view name);

}  // namespace mcpbx::conf::programs
