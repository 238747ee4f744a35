// The redactor, which replaces the values that the table finds in a text.
#include "mcp/redact/secret.hpp"

#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/secret_table.hpp"

namespace mcpbx {

void redactor::add(const secret& value) {
  secret_table::add(value.reveal());
}

std::string redactor::redact(std::string_view text) {
  return redacted_part(text, {});
}

void redactor::clear() {
  secret_table::clear();
}

}  // namespace mcpbx
