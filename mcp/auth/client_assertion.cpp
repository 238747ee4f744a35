// Makes and reads JSON Web Tokens in their compact form (RFC 7519).
#include "mcp/auth/client_assertion.hpp"

#include "mcp/crypto/signing_key.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/encodings.hpp"

#include <utility>

namespace mcpbx::auth {
namespace {

constexpr std::int64_t assertion_seconds = 60;
constexpr std::size_t longest_assertion = std::size_t{64} << 10;

std::string header_of(std::string_view algorithm, const std::string& key_id) {
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("alg", algorithm).member("typ", "JWT").filled("kid", key_id).end_object();
  return json;
}

std::string claims_of(std::string_view client_id, std::string_view issuer, std::int64_t now, std::string_view id) {
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("iss", client_id).member("sub", client_id).member("aud", issuer);
  out.member("iat", now).member("exp", now + assertion_seconds).member("jti", id).end_object();
  return json;
}

std::string_view without_slash(std::string_view url) {
  return url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
}

}  // namespace

result<std::string> client_assertion(const client_key& key, std::string_view client_id, std::string_view issuer,
                                     std::int64_t wall_ms, secret_source& random) {
  const auto signs = crypto::signing_key::from_pem(key.pem.reveal());
  if (!signs) return fail(signs.error().code, "auth.privateKey " + signs.error().message);
  std::string text = base64url(header_of(signs->algorithm(), key.id)) + "." +
                     base64url(claims_of(client_id, issuer, wall_ms / 1000, unguessable(random)));
  const auto signature = signs->sign(text);
  if (!signature) return std::unexpected(signature.error());
  return text + "." + base64url(*signature);
}

result<void> prove_client(const token_client& who, std::int64_t wall_ms, secret_source& random, form_fields& body,
                          std::vector<http::header>& headers) {
  add_client(who.client, who.method, body, headers);
  if (who.method != "private_key_jwt") return {};
  auto assertion = client_assertion(who.key, who.client.id, who.issuer, wall_ms, random);
  if (!assertion) return std::unexpected(assertion.error());
  body.emplace_back("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  body.emplace_back("client_assertion", std::move(*assertion));
  return {};
}

result<void> check_audience(std::string_view token, std::string_view issuer, std::string_view token_endpoint) {
  const auto first = token.find('.');
  const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
  const auto bytes = second == std::string_view::npos || token.size() > longest_assertion
                         ? std::nullopt
                         : base64url_bytes(token.substr(first + 1, second - first - 1));
  const auto claims = bytes ? json::raw_json::parse(*bytes, 32) : result<json::raw_json>(fail(errc::parse, ""));
  if (!claims || !claims->is_object()) return fail(errc::config, "is no signed token (a JWT)");
  const json::raw_json audience = json::find_member(*claims, "aud");
  bool meant = false;
  std::string named;
  const auto look_at = [&](const json::raw_json& one) {
    const auto text = one.as_string().value_or("");
    meant = meant || without_slash(text) == without_slash(issuer) || text == token_endpoint;
    if (named.empty()) named = text;
    return true;
  };
  if (audience.is_array())
    json::for_each_element(audience, look_at);
  else
    look_at(audience);
  if (meant && !issuer.empty()) return {};
  return fail(errc::config, named.empty() ? "does not say which authorization server it is for"
                                          : "is for \"" + redact::cut_for_people(named, 300) + "\"");
}

}  // namespace mcpbx::auth
