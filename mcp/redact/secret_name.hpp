// Tells by the name of a variable, a header or a field that its value is a secret.
#pragma once
#include <string_view>

namespace mcpbx::redact {

/// Returns true for names such as API_TOKEN, X-Api-Key or Cookie, in any case.
bool secret_name(std::string_view name);

}  // namespace mcpbx::redact
