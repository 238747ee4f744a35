// Resolves URI references against a base (RFC 3986), as far as $id and $ref need it.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers::schema {

/// Resolves `reference` (without its fragment) against `base`. An empty reference gives the base.
std::string resolve_uri(std::string_view base, std::string_view reference);

}  // namespace mcpbx::providers::schema
