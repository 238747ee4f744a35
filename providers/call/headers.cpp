// Rules for headers that model calls and model listings share.
#include "providers/call/headers.hpp"

#include "mcp/redact/secret.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::providers::call {

void put_header(std::vector<http::header>& headers, http::header h) {
  for (auto& known : headers)
    if (http::is_word(known.name, h.name)) {
      known = std::move(h);
      return;
    }
  headers.push_back(std::move(h));
}

void register_credentials(const std::vector<http::header>& credentials) {
  for (const auto& h : credentials) {
    std::string_view value = h.value;
    if (const auto blank = value.rfind(' '); blank != std::string_view::npos) value.remove_prefix(blank + 1);
    redact::redactor::add(redact::secret(std::string(value)));
  }
}

}  // namespace mcpbx::providers::call
