// Which schemas may be sent as `strict` (structured outputs): those that fulfil an API's demands as they stand. Nothing
// is rewritten for it: an optional argument made nullable is another argument to a tool.
#pragma once
#include <string_view>

namespace mcpbx::providers {

/// Whether checked `schema` is an object whose objects all forbid further properties and require each of theirs, of at
/// most ten levels, that says of each value of what type it is, and all in words that strict mode takes: one schema
/// that is refused fails the whole request. `api` is "anthropic", or one that has the rules of OpenAI.
bool is_strict_schema(std::string_view schema, std::string_view api);

}  // namespace mcpbx::providers
