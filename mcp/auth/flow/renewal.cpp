// The refresh request and its answer.
#include "mcp/auth/flow/renewal.hpp"

#include "mcp/auth/challenge.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mcpbx::auth::flow {

result<document_request> renewal_request(const grant& g, std::int64_t wall_ms, const client_key& key,
                                         secret_source& random) {
  if (g.refresh_token.empty()) return fail(errc::not_found, "there is no refresh token");
  if (g.client.expires_at_ms >= 0 && g.client.expires_at_ms <= wall_ms)
    return fail(errc::not_found, "the registration of mcpbx has ended");
  form_fields fields = {{"grant_type", "refresh_token"}, {"refresh_token", g.refresh_token.reveal()}};
  if (!g.resource.empty()) fields.emplace_back("resource", g.resource);
  std::vector<http::header> headers;
  if (auto proven = prove_client({g.client, g.method, g.issuer, key}, wall_ms, random, fields, headers); !proven)
    return std::unexpected(proven.error());
  return document_request::form(g.token_endpoint, fields, std::move(headers));
}

result<grant> renewed(const grant& g, const document_answer& answer, std::int64_t wall_ms) {
  if (!answer.ok()) {
    // Anything but a word of RFC 6749, section 5.2, may come from a proxy, a firewall or a server that is being
    // changed.
    constexpr std::array<std::string_view, 3> final_words = {"invalid_grant", "invalid_client", "unauthorized_client"};
    const auto document = answer.json();
    const auto word = document ? json::find_member(*document, "error").as_string() : std::nullopt;
    const bool refused = answer.status >= 400 && answer.status < 500 && word &&
                         std::ranges::find(final_words, *word) != final_words.end();
    return fail(refused ? errc::peer : errc::unavailable, "did not renew the token: " + answer.refusal());
  }
  const auto document = answer.json();
  if (!document) return fail(errc::protocol, "answered the renewal with a text that " + document.error().message);
  grant next = g;
  if (auto taken = take_token_answer(*document, wall_ms, next); !taken)
    return fail(errc::protocol, "answered the renewal with a text that " + taken.error().message);
  next.scopes = united_scopes(g.scopes, next.scopes);
  return next;
}

}  // namespace mcpbx::auth::flow
