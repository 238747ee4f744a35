// Names of eras and states, as `mcpbx/servers` shows them, and the offers of a server that has told none.
#include "mcp/client/client.hpp"

namespace mcpbx::mcp::clients {

std::string_view to_string(era e) {
  switch (e) {
    case era::legacy:
      return "legacy";
    case era::modern:
      return "modern";
    case era::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(server_state s) {
  switch (s) {
    case server_state::disabled:
      return "disabled";
    case server_state::starting:
      return "starting";
    case server_state::ready:
      return "ready";
    case server_state::lazy:
      return "lazy";
    case server_state::restarting:
      return "restarting";
    case server_state::crash_loop:
      return "crash_loop";
    case server_state::failed:
      return "failed";
    case server_state::stopped:
      break;
  }
  return "stopped";
}

const protocol::server_offers& client::offers() const {
  static const protocol::server_offers none;
  return none;
}

}  // namespace mcpbx::mcp::clients
