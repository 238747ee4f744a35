// The words for the kinds of errors, for logs and tests.
#include "mcp/support/error.hpp"

namespace mcpbx {

std::string_view to_string(errc code) {
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::parse:
      return "parse";
    case errc::not_found:
      return "not_found";
    case errc::timed_out:
      return "timed_out";
    case errc::cancelled:
      return "cancelled";
    case errc::unavailable:
      return "unavailable";
    case errc::peer:
      return "peer";
    case errc::protocol:
      return "protocol";
    case errc::limit:
      return "limit";
    case errc::io:
      return "io";
    case errc::config:
      return "config";
    case errc::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace mcpbx
