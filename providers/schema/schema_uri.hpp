// References of RFC 3986 as far as $id and $ref need them: resolving against a base, and the parts of a fragment.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers::schema {

/// `reference` (without its fragment) resolved against `base`; both as text. An empty reference is the base.
std::string resolve_uri(std::string_view base, std::string_view reference);
/// Percent-encoded octets decoded; a broken one stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace mcpbx::providers::schema
