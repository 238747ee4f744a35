// Interface by which callers list and approve pins. Tests of the door implement it without files.
#pragma once
#include "daemon/guard/pins/pins.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mcpbx::daemon::pins {

/// Selection of pins.
struct pin_choice {
  std::string server;  ///< configured name; "": all
  std::string tool;    ///< the server's own name; "": all
};

struct pin_row {
  std::string server, tool;
  pin_mode mode = pin_mode::off;
  pin_state state = pin_state::ok;
  bool withheld = false;                 ///< the server lists the tool, but it is not offered because of its pin
  bool origin_only = false;              ///< only the command, arguments, environment or address of its server changed
  std::string sha256;                    ///< hash of the present definition, or ""
  std::string pinned_sha256, pinned_at;  ///< hash and time of the pin, or ""
  json::raw_json pinned, listed;         ///< pinned and present definition; absent unless asked for
};

struct pin_report {
  std::string file;
  std::string problem;  ///< sentence with the reason why nothing can be compared, and the fix; "" if it can
  std::vector<pin_row> rows;
  std::string sha256 = {};  ///< rows_hash(rows), which an approval of the rows is bound to
};

/// Returns a hash of the tools and their present definitions, independent of the order.
std::string rows_hash(const std::vector<pin_row>& rows);

class pin_register {
 public:
  virtual ~pin_register() = default;
  /// Makes a report and calls `then` later, on the speaking thread; with `definitions` the rows contain them. Judges
  /// the tools again at the same time, so that the report agrees with the offered tools even if the file has changed.
  virtual void list(pin_choice which, bool definitions, std::function<void(pin_report)> then) = 0;
  /// Approves the present definitions and removes pins of tools that are gone; gives the number of changed pins. With
  /// `sha256`, only if that is still the hash of a report on the same choice, or of the one chosen tool.
  /// errc::not_found; errc::invalid_argument: another hash, or the server has not listed its tools; errc::io: the file.
  virtual void accept(pin_choice which, std::string sha256, std::function<void(result<std::size_t>)> then) = 0;
};

}  // namespace mcpbx::daemon::pins
