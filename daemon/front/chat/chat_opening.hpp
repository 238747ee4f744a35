// A prompt and resources of tool servers with which a run begins (mcpbx/chat: prompt, resources): reading the request's
// members, and turning the servers' results into messages. Pure.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::chat {

struct chat_opening {
  std::string prompt;                  ///< name that callers know, or "": none
  json::raw_json arguments;            ///< an object of strings, or absent
  std::vector<std::string> resources;  ///< URIs, each once
  bool empty() const noexcept { return prompt.empty() && resources.empty(); }

  static constexpr std::size_t most_resources = 64, most_bytes = 16u << 20;  ///< bytes of all results
};

/// Reads the members `prompt` and `resources`. Errors stay in `in`.
chat_opening read_opening(mcp::server::param_reader& in);

/// Results of the servers, in the order of the request.
struct opened_chat {
  json::raw_json prompt;                   ///< result of prompts/get, or absent
  std::vector<json::raw_json> resources;   ///< results of resources/read
  std::vector<std::string> resource_from;  ///< the servers that gave them
};

/// Puts the prompt's messages in front of the request's, and the resources, marked as data, in front of its last one.
/// errc::peer: the prompt has a wrong shape; errc::invalid_argument: the last message is not the user's.
result<void> begin_with_opening(run::run_request& r, const chat_opening& what, const opened_chat& got);

}  // namespace mcpbx::daemon::chat
