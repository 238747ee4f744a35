// Escapes and encodings.
#include "mcp/auth/form.hpp"

#include "mcp/support/percent.hpp"

#include <algorithm>
#include <cstdint>

namespace mcpbx::auth {
namespace {

constexpr std::size_t most_fields = 64;

std::string form_decoded(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '+', ' ');
  return percent_decoded(plain);
}

std::string in_base64(std::string_view bytes, std::string_view alphabet, bool padded) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) {
      if (k <= n)
        out += alphabet[group >> (18 - 6 * k) & 63];
      else if (padded)
        out += '=';
    }
  }
  return out;
}

}  // namespace

std::string form_escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 0xF];
    }
  }
  return out;
}

std::string form_text(const form_fields& fields) {
  std::string out;
  for (const auto& [name, value] : fields)
    out.append(out.empty() ? "" : "&").append(form_escaped(name)).append("=").append(form_escaped(value));
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

std::string base64url(std::string_view bytes) {
  return in_base64(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false);
}

std::string base64(std::string_view bytes) {
  return in_base64(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true);
}

}  // namespace mcpbx::auth
