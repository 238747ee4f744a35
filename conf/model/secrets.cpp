// Finds credentials in addresses: RFC 3986, sections 3.2.1 (userinfo) and 3.4 (query).
#include "conf/model/secrets.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/percent.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace mcpbx::conf::model {
namespace {

// Registers the text as written and percent-decoded, which is how programs print it after parsing the address.
void register_encoded(std::string_view value) {
  redact::redactor::add(redact::secret(std::string(value)));
  redact::redactor::add(redact::secret(percent_decoded(value)));
}

bool is_web(std::string_view before_colon) {
  return before_colon.ends_with("http") || before_colon.ends_with("https");
}

bool secret_parameter(std::string_view name) {
  // Names that mean a secret in a query only: signatures, and the key of Azure's functions.
  static constexpr std::array<std::string_view, 4> marks{"sig", "signature", "code", "auth"};
  return secret_name(name) || std::ranges::find(marks, name) != marks.end() || name.ends_with("-signature") ||
         name.ends_with("-Signature");
}

// Calls f(name, value) for each parameter behind the first `?`.
template <class F>
void for_each_parameter(std::string_view address, F&& f) {
  const auto from = address.find('?');
  if (from == address.npos) return;
  std::string_view rest = address.substr(from + 1, address.find('#', from) - from - 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto one = rest.substr(0, end);
    const auto equals = std::min(one.find('='), one.size());
    f(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Calls f(part) for the password or token of each address.
template <class F>
void for_each_password(std::string_view text, F&& f) {
  constexpr std::string_view behind_scheme = "://";
  for (auto at = text.find(behind_scheme); at != text.npos; at = text.find(behind_scheme, at)) {
    const bool web = is_web(text.substr(0, at));
    at += behind_scheme.size();
    const auto authority = text.substr(at, text.find_first_of("/?# \t\r\n\"'<>", at) - at);
    const auto end = authority.rfind('@');
    if (end == authority.npos) continue;
    const auto user = authority.substr(0, end);
    const auto colon = user.find(':');
    if (colon != user.npos) f(user.substr(colon + 1));
    // A lone user is a name in addresses of databases and ssh, but a token in those of the web.
    else if (web)
      f(user);
  }
}

}  // namespace

void register_secrets(std::string_view name, std::string_view value) {
  if (secret_name(name)) redact::redactor::add(redact::secret(std::string(value)));
  register_url_passwords(value);
}

void register_url_passwords(std::string_view text) {
  for_each_password(text, register_encoded);
}

std::vector<std::string_view> address_secrets(std::string_view text) {
  std::vector<std::string_view> found;
  const auto take = [&](std::string_view part) {
    if (!part.empty() && !has_references(part)) found.push_back(part);
  };
  for_each_password(text, take);
  if (text.find("://") == text.npos) return found;
  for_each_parameter(text, [&](std::string_view name, std::string_view value) {
    if (secret_parameter(name)) take(value);
  });
  return found;
}

void register_query_secrets(const reference_string& written, reference_source& source) {
  const auto part = [&](std::string_view text) {
    return resolve({std::string(text), written.where, written.server_entry}, source);
  };
  for_each_parameter(written.text, [&](std::string_view, std::string_view value) {
    if (!has_references(value)) return;
    if (const auto resolved = part(value)) register_encoded(*resolved);
  });
  const auto whole = part(written.text);
  if (!whole) return;
  for_each_parameter(*whole, [](std::string_view name, std::string_view value) {
    if (secret_parameter(name)) register_encoded(value);
  });
}

}  // namespace mcpbx::conf::model
