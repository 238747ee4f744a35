// Checks of token, host and origin.
#include "daemon/front/base/http_access.hpp"

#include "mcp/support/text.hpp"

#include <openssl/crypto.h>

#include <algorithm>

namespace mcpbx::daemon::front {
namespace {

// Compares in constant time, so that the time does not reveal how much of a token is right.
bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string_view> bearer_of(const http::servers::request_head& head) {
  const auto value = http::find_header(head.headers, "authorization");
  const auto blank = value.find(' ');
  if (blank == std::string_view::npos || !http::is_word(value.substr(0, blank), "bearer")) return std::nullopt;
  return trimmed(value.substr(blank));
}

// Returns true for a local page ("http://localhost:3000"). A page without an address sends "null".
bool is_local_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return is_this_machine(origin.substr(scheme.size()));
  return false;
}

}  // namespace

bool is_this_machine(std::string_view host) {
  if (const auto colon = host.rfind(':'); colon != std::string_view::npos && !host.ends_with(']')) {
    const auto port = host.substr(colon + 1);
    if (!std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; })) return false;
    host = host.substr(0, colon);
  }
  const auto is_number = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return http::is_word(host, "localhost") || host == "[::1]" ||
         (host.starts_with("127.") && std::ranges::all_of(host, is_number));
}

std::optional<http_refusal> check_access(const http::servers::request_head& head, const http_rules& rules,
                                         bool without_token) {
  if (!rules.on_port) return std::nullopt;
  if (!is_this_machine(http::find_header(head.headers, "host")))
    return http_refusal{403, "The Host header does not name this machine; use 127.0.0.1 or localhost in the address."};
  for (const auto& h : head.headers)
    if (http::is_word(h.name, "origin") && !is_local_origin(h.value))
      return http_refusal{403, "Requests from web pages of other origins are not answered."};
  if (rules.token.empty() || without_token) return std::nullopt;
  const auto bearer = bearer_of(head);
  const auto key = trimmed(http::find_header(head.headers, "x-api-key"));
  if ((bearer && same_secret(*bearer, rules.token)) || same_secret(key, rules.token)) return std::nullopt;
  if (!bearer && key.empty())
    return http_refusal{
        401,
        "A token is needed: send \"Authorization: Bearer TOKEN\" (or x-api-key) with what is in the token file "
        "(http.tokenFile; mcpbx status names it)."};
  return http_refusal{401, "The token is not the one in the token file (http.tokenFile; mcpbx status names it)."};
}

}  // namespace mcpbx::daemon::front
