// Reads and writes forms.
#include "mcp/auth/form.hpp"

#include "mcp/support/percent.hpp"

#include <algorithm>

namespace mcpbx::auth {
namespace {

constexpr std::size_t most_fields = 64;

std::string form_decoded(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '+', ' ');
  return percent_decoded(plain);
}

}  // namespace

std::string form_text(const form_fields& fields) {
  std::string out;
  for (const auto& [name, value] : fields)
    out.append(out.empty() ? "" : "&").append(percent_encoded(name)).append("=").append(percent_encoded(value));
  return out;
}

std::optional<form_fields> read_form(std::string_view text) {
  form_fields fields;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (field.empty()) continue;
    const auto equals = std::min(field.find('='), field.size());
    std::string name = form_decoded(field.substr(0, equals));
    if (fields.size() == most_fields) return std::nullopt;
    if (std::ranges::any_of(fields, [&](const auto& f) { return f.first == name; })) return std::nullopt;
    fields.emplace_back(std::move(name), form_decoded(field.substr(std::min(equals + 1, field.size()))));
  }
  return fields;
}

std::string_view form_value(const form_fields& fields, std::string_view name) {
  const auto found = std::ranges::find_if(fields, [&](const auto& f) { return f.first == name; });
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace mcpbx::auth
