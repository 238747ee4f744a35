// Both kinds of framing go by the same limits.
#include "daemon/app/options/framing.hpp"

#include <cstddef>

namespace mcpbx::daemon::options {
namespace {

mcp::rpc::line_framer::options framing_of(const conf::model::limit_settings& limits, bool from_server) {
  return {.max_message_bytes = static_cast<std::size_t>(limits.max_message_bytes),
          .max_depth = static_cast<int>(limits.max_json_depth),
          .repair_utf8 = from_server,
          .keep_deep_answers = from_server,
          .max_message_bytes_key = "limits.maxMessageBytes",
          .max_depth_key = "limits.maxJsonDepth"};
}

}  // namespace

mcp::rpc::line_framer::options server_framing(const conf::model::configuration& config) {
  return framing_of(config.limits, true);
}

mcp::rpc::line_framer::options caller_framing(const conf::model::configuration& config) {
  return framing_of(config.limits, false);
}

}  // namespace mcpbx::daemon::options
