// The grants that ask nobody: the client's own, and those by a signed token that somebody else has made.
#include "mcp/auth/flow/authorization.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::auth::flow {
namespace {

constexpr std::string_view jwt_bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::string_view token_exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr std::string_view id_token = "urn:ietf:params:oauth:token-type:id_token";
constexpr std::string_view id_jag = "urn:ietf:params:oauth:token-type:id-jag";
constexpr std::size_t longest_assertion = std::size_t{64} << 10;

form_fields grant_fields(std::string_view type, std::string assertion, const std::vector<std::string>& scopes) {
  form_fields fields = {{"grant_type", std::string(type)}};
  if (!assertion.empty()) fields.emplace_back("assertion", std::move(assertion));
  if (!scopes.empty()) fields.emplace_back("scope", joined_scopes(scopes));
  return fields;
}

}  // namespace

void authorization::go_alone() {
  const auto missing = [this](const std::string& key) {
    fail_with(errc::config, "a login without a person needs auth." + key + " in its entry");
  };
  switch (options_.kind) {
    case grant_kind::client_credentials:
      if (client_.id.empty()) return missing("clientId");
      return ask_token(grant_fields("client_credentials", {}, scopes_));
    case grant_kind::workload: {
      if (options_.assertion.empty()) return missing("assertion");
      const std::string& token = options_.assertion.reveal();
      if (auto meant = check_audience(token, server_.issuer, server_.token_endpoint); !meant)
        return fail_with(errc::config, "auth.assertion " + meant.error().message +
                                           ", so it is not sent to its authorization server \"" +
                                           redact::cut_for_people(server_.issuer, 300) + "\"");
      return ask_token(grant_fields(jwt_bearer, token, scopes_));
    }
    case grant_kind::enterprise:
      if (client_.id.empty()) return missing("clientId");
      if (options_.assertion.empty()) return missing("assertion");
      if (options_.provider.token_url.empty()) return missing("idpTokenUrl");
      return ask_provider();
    case grant_kind::person:
      break;
  }
}

// Exchanges the login at the organization's identity provider for a token that this authorization server takes (the
// extension "enterprise-managed authorization").
void authorization::ask_provider() {
  const auto& idp = options_.provider;
  if (auto allowed = endpoint_rule::of(idp.token_url, true).check("auth.idpTokenUrl", idp.token_url); !allowed)
    return fail_with(errc::config, allowed.error().message);
  form_fields fields = {{"grant_type", std::string(token_exchange)},
                        {"requested_token_type", std::string(id_jag)},
                        {"subject_token_type", std::string(id_token)},
                        {"subject_token", options_.assertion.reveal()},
                        {"audience", server_.issuer}};
  if (!resource_.empty()) fields.emplace_back("resource", resource_);
  if (!scopes_.empty()) fields.emplace_back("scope", joined_scopes(scopes_));
  std::vector<http::header> headers;
  add_client({.id = idp.client_id, .password = idp.client_secret},
             idp.client_secret.empty() ? "none" : "client_secret_basic", fields, headers);
  fetch(stage::exchange, document_request::form(idp.token_url, fields, std::move(headers)));
}

endpoint_rule authorization::rule() const {
  return stage_ == stage::exchange ? endpoint_rule::of(options_.provider.token_url, true) : rule_;
}

void authorization::on_exchange(const document_answer& a) {
  const std::string where = "the identity provider of auth.idpTokenUrl";
  if (!a.ok())
    return fail_with(a.status >= 500 || a.status == 429 ? errc::unavailable : errc::peer,
                     where + " gave no token for it: " + a.refusal() +
                         (a.status < 500 ? "; auth.assertion must be the ID token of a login that still holds" : ""));
  const auto document = a.json();
  if (!document) return fail_with(errc::protocol, where + ": its answer " + document.error().message);
  auto token = json::find_member(*document, "access_token").as_string();
  const bool usable = token && !token->empty() && token->size() <= longest_assertion &&
                      std::ranges::all_of(*token, [](char c) { return c > 0x20 && c < 0x7F; });
  if (!usable || json::find_member(*document, "issued_token_type").as_string().value_or(std::string(id_jag)) != id_jag)
    return fail_with(errc::protocol, where + ": its answer has no token of the kind that was asked for (id-jag)");
  hide(*token);
  ask_token(grant_fields(jwt_bearer, std::move(*token), scopes_));
}

}  // namespace mcpbx::auth::flow
