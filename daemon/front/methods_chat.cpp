// mcpbx/chat: one run for one request.
#include "daemon/front/methods.hpp"

namespace mcpbx::daemon {

void add_chat_methods(own_methods& table, const chat_defaults& defaults) {
  table.bind(
      "mcpbx/chat", [&defaults](mcp::param_reader& in) { return read_chat(in, defaults); },
      [](connection& c, run_request r, const mcp::reply_once& reply) { c.start_run(std::move(r), reply); });
}

}  // namespace mcpbx::daemon
