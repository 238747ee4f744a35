// The pins as callers see and approve them. One seam, so that the door is tested without files.
#pragma once
#include "daemon/guard/pins/pins.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mcpbx::daemon {

/// Which pins are meant.
struct pin_choice {
  std::string server;  ///< configured name; "": all
  std::string tool;    ///< the server's own name; "": all
};

struct pin_row {
  std::string server, tool;
  pin_mode mode = pin_mode::off;
  pin_state state = pin_state::ok;
  bool withheld = false;                 ///< listed, and not offered for this reason
  bool origin_only = false;              ///< changed: only the command, arguments, environment or address of its server
  std::string sha256;                    ///< of what is listed now, or ""
  std::string pinned_sha256, pinned_at;  ///< or ""
  raw_json pinned, listed;  ///< what is pinned of a definition, then and now; only where asked for, else absent
};

struct pin_report {
  std::string file;
  std::string problem;  ///< why nothing can be compared: a sentence with the mend; "" when it can
  std::vector<pin_row> rows;
  std::string sha256 = {};  ///< rows_hash(rows): what an approval of them is bound to
};

/// Of which tools there are and what is listed of each, in any order.
std::string rows_hash(const std::vector<pin_row>& rows);

class pin_register {
 public:
  virtual ~pin_register() = default;
  /// `then` comes later, on the speaking thread. `definitions`: the rows are to have them. What is offered is decided
  /// anew with it, so that the rows tell that, whatever became of the file in the meantime.
  virtual void list(pin_choice which, bool definitions, std::function<void(pin_report)> then) = 0;
  /// Approves what is listed now, and that what is gone is gone; gives the number of tools whose pin changed. With
  /// `sha256` only if it is the hash of a report on the same choice now, or that of the one tool that is chosen.
  /// Errors: errc::not_found, errc::invalid_argument (the hash is another one, or the server has not listed its tools),
  /// errc::io (the file).
  virtual void accept(pin_choice which, std::string sha256, std::function<void(result<std::size_t>)> then) = 0;
};

}  // namespace mcpbx::daemon
