// Token answers, and grants on disk.
#include "mcp/auth/grant.hpp"

#include "mcp/auth/challenge.hpp"
#include "mcp/http/header.hpp"
#include "mcp/json/json_reader.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::auth {
namespace {

constexpr std::int64_t renewal_ahead_ms = 60'000;
constexpr std::size_t longest_token = std::size_t{64} << 10;
constexpr std::array<std::string_view, 3> source_words = {"configured", "document", "registered"};

}  // namespace

bool grant::wants_renewal(std::int64_t now_ms) const noexcept {
  return access_token.empty() || (expires_at_ms >= 0 && now_ms >= expires_at_ms - renewal_ahead_ms);
}

result<void> take_token_answer(const json::raw_json& answer, std::int64_t now_ms, grant& g) {
  if (!answer.is_object()) return fail(errc::protocol, "is no JSON object");
  const auto type = json::find_member(answer, "token_type").as_string();
  if (type && !http::is_word(*type, "Bearer")) return fail(errc::protocol, "gives a token of another kind than Bearer");
  auto token = json::find_member(answer, "access_token").as_string();
  const auto usable = [](const std::string& t) {
    return !t.empty() && t.size() <= longest_token &&
           std::ranges::all_of(t, [](char c) { return c > 0x20 && c < 0x7F; });
  };
  if (!token || !usable(*token)) return fail(errc::protocol, "has no access_token that could be sent");
  g.access_token = redact::secret(std::move(*token));
  if (auto refresh = json::find_member(answer, "refresh_token").as_string(); refresh && usable(*refresh))
    g.refresh_token = redact::secret(std::move(*refresh));
  const auto seconds = json::find_member(answer, "expires_in").as_integer();
  g.expires_at_ms = seconds && *seconds >= 0 ? now_ms + std::min<std::int64_t>(*seconds, 1'000'000'000) * 1000 : -1;
  if (const auto scope = json::find_member(answer, "scope").as_string()) g.scopes = scope_words(*scope);
  return {};
}

std::string grant_json(const grant& g) {
  std::string json;
  json::json_writer out(json);
  out.begin_object();
  out.members("issuer", g.issuer, "resource", g.resource, "tokenEndpoint", g.token_endpoint, "method", g.method);
  out.member("source", source_words.at(static_cast<std::size_t>(g.client.source))).member("clientId", g.client.id);
  out.filled("clientSecret", g.client.password.reveal()).member("secretExpiresAtMs", g.client.expires_at_ms);
  out.filled("clientMethod", g.client.method).filled("redirectUri", g.client.redirect_uri);
  out.filled("accessToken", g.access_token.reveal()).filled("refreshToken", g.refresh_token.reveal());
  out.member("expiresAtMs", g.expires_at_ms).list("scopes", g.scopes);
  out.end_object();
  return json;
}

result<grant> read_grant(const json::raw_json& json) {
  std::string wrong;
  const json::json_reader in(json, "a grant", wrong);
  grant g;
  g.issuer = in.needed("issuer");
  g.resource = in.needed("resource");
  g.token_endpoint = in.text("tokenEndpoint");
  g.method = in.text("method");
  const auto source = std::ranges::find(source_words, in.text("source"));
  if (source == source_words.end())
    in.bad("source", "a word that this version knows");
  else
    g.client.source = static_cast<identity_source>(source - source_words.begin());
  g.client.id = in.text("clientId");
  g.client.password = redact::secret(in.text("clientSecret"));
  in.number("secretExpiresAtMs", g.client.expires_at_ms);
  g.client.method = in.text("clientMethod");
  g.client.redirect_uri = in.text("redirectUri");
  g.access_token = redact::secret(in.text("accessToken"));
  g.refresh_token = redact::secret(in.text("refreshToken"));
  in.number("expiresAtMs", g.expires_at_ms);
  g.scopes = in.texts("scopes");
  if (!wrong.empty()) return fail(errc::parse, wrong);
  return g;
}

}  // namespace mcpbx::auth
