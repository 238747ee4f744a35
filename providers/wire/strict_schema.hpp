// Which tool schemas may be sent as `strict` to the APIs of OpenAI (structured outputs): those that fulfil its demands
// as they stand. Nothing is rewritten for it: an optional argument made nullable is another argument to a tool.
#pragma once
#include <string_view>

namespace mcpbx::providers {

/// Whether checked `schema` is an object whose objects all forbid further properties and require each of theirs, of at
/// most ten levels, without keywords that strict mode does not take.
bool is_strict_schema(std::string_view schema);

}  // namespace mcpbx::providers
