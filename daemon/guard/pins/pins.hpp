// Pinned tool definitions (docs/guarantees.md, G37): the pins, and how the present list of a server compares with them.
// Pure.
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

namespace mcpbx::daemon {

/// What becomes of a tool whose definition is not the pinned one.
enum class pin_mode : std::uint8_t { off, warn, block };
std::string_view to_string(pin_mode m);

/// How a tool stands to its pin. `added`: its server has pins and this tool has none (a rename is that, too).
/// `unseen`: pinned, and its server has not said what it lists.
enum class pin_state : std::uint8_t { ok, changed, added, gone, unseen };
/// ok, changed, new, gone, unseen
std::string_view to_string(pin_state s);

struct pin {
  std::string sha256;
  std::string pinned_at;  ///< UTC
  raw_json definition;    ///< what is pinned, for people; absent where it was too long to be kept
  /// The whole definition is pinned; false: by a version that knew five members of it only, see take_over().
  bool whole = true;
};
/// By the server's own name of the tool. A server without tools has pins, too: none of its tools has been approved.
using server_pins = std::map<std::string, pin, std::less<>>;
/// By the configured name of the server.
using pin_book = std::map<std::string, server_pins, std::less<>>;

/// What the file has.
struct pin_file {
  pin_book pins;
  name_book names = {};
};

/// The file's text, one tool or name per line; and back. errc::parse says where it is wrong; errc::config: it is of a
/// newer version.
std::string to_text(const pin_file& file);
result<pin_file> read_pins(std::string_view text);

/// What of a definition is pinned, as canonical JSON: all of it, for hosts show and models read whatever it has.
std::string pinned_part(const raw_json& definition);
/// What older versions pinned of it: name, description, schemas and annotations.
std::string first_pinned_part(const raw_json& definition);
/// The hash of a pinned_part and where it comes from, see origin_text.
std::string pin_hash(std::string_view part, std::string_view origin);
/// Where a server comes from, as its entry has it (references are not resolved). Empty stands for absent.
struct server_origin {
  std::string command;
  std::vector<std::string> args;
  std::string endpoint;
  /// The names of the variables that it is given beside the usual ones, in any order; their values may change.
  std::vector<std::string> env_names = {};
  std::string env_file = {}, cwd = {};
};
/// Canonical JSON.
std::string origin_text(server_origin from);

/// A tool beside its pin.
struct compared_tool {
  std::string tool;
  pin_state state = pin_state::ok;
  std::string sha256;        ///< of what is listed now; "" when it is not
  bool origin_only = false;  ///< changed: the definition is the same, its server comes from somewhere else
};

/// Every tool that is listed or pinned: first those listed, in their order, then those that are gone.
std::vector<compared_tool> compare(const server_pins& pins, const std::vector<mcp::feature_item>& listed,
                                   std::string_view origin);

/// Pins whole what is listed and fits a pin of an older version; gives how many were taken over.
std::size_t take_over(server_pins& pins, const std::vector<mcp::feature_item>& listed, std::string_view origin);

/// Pins what is listed and takes out what is gone, for the whole server or for one `tool` of it; pins that are right
/// stay as they are. Gives how many were changed.
std::size_t approve(server_pins& pins, const std::vector<mcp::feature_item>& listed, std::string_view origin,
                    const std::string& now, std::string_view tool = {});

}  // namespace mcpbx::daemon
