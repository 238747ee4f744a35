// Pinned tool definitions (docs/guarantees.md, G37): the pins, and their comparison with a server's present list. No
// I/O.
#pragma once
#include "daemon/guard/pins/name_book.hpp"
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::pins {

/// Treatment of a tool whose definition differs from its pin.
enum class pin_mode : std::uint8_t { off, warn, block };
std::string_view to_string(pin_mode m);

/// State of a tool with regard to its pin. `added`: its server has pins but the tool has none, as after a rename.
/// `unseen`: the tool is pinned, and its server has not listed its tools yet.
enum class pin_state : std::uint8_t { ok, changed, added, gone, unseen };
/// Returns ok, changed, new, gone or unseen.
std::string_view to_string(pin_state s);

struct pin {
  std::string sha256;
  std::string pinned_at;      ///< UTC
  json::raw_json definition;  ///< the pinned definition, for people; absent if it was too long to store
  /// The hash covers the whole definition; false: an older version pinned only five members of it, see take_over().
  bool whole = true;
};
/// Pins by the server's own name of the tool. An empty map is meaningful: no tool of the server has been approved.
using server_pins = std::map<std::string, pin, std::less<>>;
/// Pins by the configured name of the server.
using pin_book = std::map<std::string, server_pins, std::less<>>;

/// Content of the file.
struct pin_file {
  pin_book pins;
  name_book names = {};
};

/// Writes and reads the file's text, with one tool or name on each line. errc::parse names the faulty place;
/// errc::config: the file is of a newer version.
std::string to_text(const pin_file& file);
result<pin_file> read_pins(std::string_view text);

/// Returns the pinned part of a definition as canonical JSON. It is all of it, because hosts and models may use any
/// member.
std::string pinned_part(const json::raw_json& definition);
/// Returns the part that older versions pinned: name, description, schemas and annotations.
std::string first_pinned_part(const json::raw_json& definition);
/// Returns the hash of a pinned part and its server's origin, see origin_text().
std::string pin_hash(std::string_view part, std::string_view origin);
/// Origin of a server, from its entry with references unresolved. Empty means absent.
struct server_origin {
  std::string command;
  std::vector<std::string> args;
  std::string endpoint;
  /// Names of the variables that it gets beside the usual ones, in any order. Their values may change.
  std::vector<std::string> env_names = {};
  std::string env_file = {}, cwd = {};
};
/// Returns the origin as canonical JSON.
std::string origin_text(server_origin from);

/// A tool beside its pin.
struct compared_tool {
  std::string tool;
  pin_state state = pin_state::ok;
  std::string sha256;        ///< hash of the present definition; "" if the tool is not listed
  bool origin_only = false;  ///< the definition is unchanged, but the origin of its server is not
};

/// Compares all tools that are listed or pinned: first the listed ones in their order, then those that are gone.
std::vector<compared_tool> compare(const server_pins& pins, const std::vector<mcp::protocol::feature_item>& listed,
                                   std::string_view origin);

/// Renews pins of an older version that match the present definitions, and returns their number.
std::size_t take_over(server_pins& pins, const std::vector<mcp::protocol::feature_item>& listed,
                      std::string_view origin);

/// Pins the listed definitions and removes pins of tools that are gone, for the whole server or for one `tool`. Leaves
/// matching pins as they are. Returns the number of changed pins.
std::size_t approve(server_pins& pins, const std::vector<mcp::protocol::feature_item>& listed, std::string_view origin,
                    const std::string& now, std::string_view tool = {});

}  // namespace mcpbx::daemon::pins
