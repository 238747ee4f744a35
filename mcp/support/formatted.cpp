// The one use of the formatter.
#include "mcp/support/formatted.hpp"

namespace mcpbx {

std::string format_values(fmt::string_view pattern, fmt::format_args values) {
  return fmt::vformat(pattern, values);
}

}  // namespace mcpbx
