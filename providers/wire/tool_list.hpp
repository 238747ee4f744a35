// Tools as each API's requests hold them.
#pragma once
#include "mcp/support/raw_json.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "providers/model/message.hpp"

#include <optional>
#include <string_view>

namespace mcpbx::providers {

/// Appends the tools of `set` as a JSON array in the form of `api`: the functions of chat completions (also for an API
/// that is not known), of Responses and of Ollama, the tools of Messages, the declarations of Gemini. `strict` is the
/// switch of the first two and of Messages: nothing is said of it unless the API would guess, and only a tool whose
/// schema fits the rules of strict mode is marked as strict. A tool whose definition keeps what it was encoded to is
/// only copied.
void append_tool_list(byte_buffer& out, std::string_view api, const tool_set& set,
                      std::optional<bool> strict = std::nullopt);

/// That list as a part of a request, with what stands around it.
raw_json tool_member(std::string_view before, std::string_view api, const tool_set& set, std::string_view behind = "",
                     std::optional<bool> strict = std::nullopt);

}  // namespace mcpbx::providers
