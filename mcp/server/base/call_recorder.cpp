// The words for how a call was decided and ended.
#include "mcp/server/base/call_recorder.hpp"

namespace mcpbx::mcp::server {

std::string_view to_string(call_decision d) {
  switch (d) {
    case call_decision::called:
      return "called";
    case call_decision::refused:
      return "refused";
    case call_decision::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(call_end e) {
  switch (e) {
    case call_end::result:
      return "result";
    case call_end::tool_error:
      return "tool_error";
    case call_end::error:
      return "error";
    case call_end::failed:
      return "failed";
    case call_end::cancelled:
      break;
  }
  return "cancelled";
}

}  // namespace mcpbx::mcp::server
