// Encodes tool definitions for each API's requests.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <optional>
#include <string_view>

namespace mcpbx::providers {

/// Returns the tools of `set` as a JSON array for `api`; an unknown API gets the form of chat completions. The array is
/// cached with `set`, each tool with its definition. `strict`: the configured switch; if unset, the mark is sent only
/// where the API would guess. Only tools that fit strict mode are marked. `takes_strict` (always true for Responses):
/// tool_definition::strict overrides the switch.
raw_json tool_list(std::string_view api, const tool_set& set, std::optional<bool> strict = std::nullopt,
                   bool takes_strict = false);

}  // namespace mcpbx::providers
