// Tools as each API's requests hold them.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <optional>
#include <string_view>

namespace mcpbx::providers {

/// The tools of `set` as a JSON array in the form of `api`: the functions of chat completions (also for an API that is
/// not known), of Responses and of Ollama, the tools of Messages, the declarations of Gemini. `strict` is the switch of
/// the first two and of Messages: nothing is said of it unless the API would guess, and only a tool whose schema fits
/// the rules of strict mode is marked as strict. With `takes_strict`, and always for Responses, one whose caller wants
/// it so is marked whatever the switch says. Kept with `set` and made only once; a tool whose definition keeps what it
/// was encoded to is only copied.
raw_json tool_list(std::string_view api, const tool_set& set, std::optional<bool> strict = std::nullopt,
                   bool takes_strict = false);

}  // namespace mcpbx::providers
