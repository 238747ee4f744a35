// The redactor, which replaces the values that the table finds in a text.
#include "mcp/redact/secret.hpp"

#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/secret_table.hpp"

#include <utility>

namespace mcpbx::redact {

void redactor::add(const secret& value) {
  secret_table::add(value.reveal());
}

passing_secret::passing_secret(secret value) : value_(std::move(value)) {
  secret_table::hold(value_.reveal());
}

passing_secret::~passing_secret() {
  secret_table::release(value_.reveal());
}

std::string redactor::redact(std::string_view text) {
  return redacted_part(text, {});
}

void redactor::clear() {
  secret_table::clear();
}

}  // namespace mcpbx::redact
