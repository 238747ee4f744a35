// References of RFC 3986 as far as $id and $ref need them: resolving against a base.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers::schema {

/// `reference` (without its fragment) resolved against `base`; both as text. An empty reference is the base.
std::string resolve_uri(std::string_view base, std::string_view reference);

}  // namespace mcpbx::providers::schema
