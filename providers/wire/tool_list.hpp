// Encodes tool definitions for each API's requests.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"
#include "providers/wire/strict_schema.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mcpbx::providers::wire {

/// Use of the member `strict` of a tool.
enum class strict_mark : std::uint8_t {
  none,       ///< the API does not have it
  when_told,  ///< sent if the configuration or the tool says something
  only_true,  ///< the same, but false is not sent
  always      ///< sent always, because the API would try to make schemas strict without it
};

/// Place of a tool's own members in its definition.
enum class tool_shape : std::uint8_t {
  plain,  ///< {"name":…}
  typed,  ///< {"type":"function","name":…}
  nested  ///< {"type":"function","function":{"name":…}}
};

/// Form of an API's tool definitions.
struct tool_form {
  std::string_view name;  ///< key of the cache; APIs with the same form share it
  tool_shape shape = tool_shape::plain;
  std::string_view schema;         ///< key of the schema
  bool empty_description = false;  ///< send the description even if it is empty
  strict_mark strict = strict_mark::none;
  strict_rules rules = strict_rules::openai;  ///< of schemas that may be marked
};

/// Returns the tools of `set` as a JSON array. The array is cached with `set`, each tool with its definition. `strict`:
/// the configured switch; if unset, the mark is sent only where the API would guess. Only tools that fit strict mode
/// are marked. `takes_strict` (true for strict_mark::always): tool_definition::strict overrides the switch.
json::raw_json tool_list(const tool_form& form, const tool_set& set, std::optional<bool> strict = std::nullopt,
                         bool takes_strict = false);

}  // namespace mcpbx::providers::wire
