// Form bodies and queries as OAuth writes and reads them (application/x-www-form-urlencoded, RFC 6749, appendix B).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::auth {

/// Names and values in order.
using form_fields = std::vector<std::pair<std::string, std::string>>;

/// Returns the fields as `name=value&…`.
std::string form_text(const form_fields& fields);
/// Reads a query or a form. Returns nullopt if a name occurs twice, or there are more than 64 fields.
std::optional<form_fields> read_form(std::string_view text);
/// Returns the value of a field, or "".
std::string_view form_value(const form_fields& fields, std::string_view name);

}  // namespace mcpbx::auth
