// The params of a request that goes to a tool server, read once and otherwise left as they are.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/server/passed_call.hpp"
#include "mcp/support/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::callers {

/// Views share the bytes of the params, which must outlive them.
struct incoming_call {
  std::string name;          ///< name of the tool or prompt, or URI, by which the server is found
  std::string_view key;      ///< the token of that name inside the params, which the server's own name replaces
  bool by_prompt = false;    ///< a completion for a prompt; others are for resources
  json::raw_json arguments;  ///< absent if there are none
  json::raw_json meta;       ///< `_meta`, or absent
  bool has_task = false;     ///< asks for a task (2025-11-25, tasks)
  json::raw_json token;      ///< the progress token, or absent
  json::raw_json state;      ///< requestState, or absent
  json::raw_json responses;  ///< inputResponses, or absent
};

/// Reads the params. errc::invalid_argument, with the member in the sentence: one is wrong, missing or there twice.
/// `to` has all that was read before the error. `modern` has read the `_meta` of a modern caller; null: a legacy one.
result<void> read_call(const call_shape& shape, const json::raw_json& params, const server::modern_request* modern,
                       incoming_call& to);

/// Reads the params of a method of an extension, of which `_meta` alone is known; they may be absent.
result<void> read_extension_call(const json::raw_json& params, incoming_call& to);

/// Params for a server.
struct own_params {
  json::raw_json params;
  std::optional<json::raw_json> meta;  ///< as in server_call
};
/// Returns the params for the server: with its own name, and without the answers to questions that a legacy server
/// cannot know.
own_params params_for(const json::raw_json& params, const incoming_call& call, const std::string& own,
                      bool modern_server);

}  // namespace mcpbx::mcp::callers
