// The steps of an authorization, in the order in which they come.
#include "mcp/auth/flow/authorization.hpp"

#include "mcp/http/url.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/percent.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::auth::flow {
namespace {

constexpr std::string_view offline_access = "offline_access";

std::string shown_url(std::string_view url) {
  return "\"" + redact::cut_for_people(url.substr(0, url.find('?')), 300) + "\"";
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Returns the name of a parameter of ours that the endpoint's own query has, or "": its value would win at some
// servers.
std::string own_parameter(std::string_view endpoint) {
  const auto mark = endpoint.find('?');
  if (mark == std::string_view::npos) return {};
  const auto fields = read_form(endpoint.substr(mark + 1));
  if (!fields) return "a parameter twice";
  constexpr std::array<std::string_view, 8> ours = {
      "response_type", "client_id",      "redirect_uri", "scope",
      "state",         "code_challenge", "resource",     "code_challenge_method"};
  for (const auto& [name, value] : *fields)
    if (std::ranges::find(ours, name) != ours.end()) return name;
  return {};
}

}  // namespace

authorization::authorization(options o, secret_source& secrets)
    : options_(std::move(o)),
      secrets_(secrets),
      rule_(endpoint_rule::of(options_.server_url, options_.private_addresses)) {
  addresses_ = resource_metadata_addresses(options_.server_url, options_.challenge.resource_metadata);
  std::ranges::reverse(addresses_);
  next_resource_document();
}

std::string authorization::who() const {
  return "server \"" + options_.server + "\"";
}

// Keeps a value out of the words that servers use when they refuse it.
void authorization::hide(const std::string& value) {
  if (worth_hiding(value)) hidden_.emplace_back(redact::secret(value));
}

void authorization::fetch(stage s, document_request r) {
  stage_ = s;
  // A server may quote what it refuses.
  for (auto& one : r.secrets()) hidden_.push_back(std::move(one));
  if (const auto escaped = percent_encoded(client_.password.reveal()); escaped != client_.password.reveal())
    hide(escaped);
  step_ = {.type = step::kind::fetch, .request = std::move(r)};
}

void authorization::fail_with(errc code, const std::string& what) {
  stage_ = stage::over;
  step_ = {.type = step::kind::failed, .problem = {code, who() + ": " + what}};
}

void authorization::answered(const document_answer& answer, std::int64_t wall_ms) {
  if (step_.type != step::kind::fetch) return;
  wall_ms_ = wall_ms;
  switch (stage_) {
    case stage::resource_document:
      return on_resource_document(answer);
    case stage::server_document:
      return on_server_document(answer);
    case stage::registration:
      return on_registration(answer);
    case stage::exchange:
      return on_exchange(answer);
    case stage::token:
      return on_token(answer);
    case stage::person:
    case stage::over:
      return;
  }
}

void authorization::unreachable(std::string_view why) {
  if (step_.type == step::kind::fetch)
    fail_with(errc::unavailable,
              "the login cannot go on, since " + shown_url(step_.request.url) + " " + std::string(why));
}

// Protected-resource metadata.

void authorization::next_resource_document() {
  if (addresses_.empty()) {
    // Servers of 2025-03-26 have no such document: they are their own authorization server, at the root of their
    // origin.
    server_.issuer = origin_text(options_.server_url);
    if (server_.issuer.empty()) return fail_with(errc::invalid_argument, "its address has no place for a login");
    if (!is_pinned(server_.issuer)) return;
    addresses_ = server_metadata_addresses(server_.issuer);
    std::ranges::reverse(addresses_);
    return next_server_document();
  }
  const std::string address = std::exchange(addresses_.back(), {});
  addresses_.pop_back();
  if (auto allowed = rule_.check("the address of its resource metadata", address); !allowed)
    return fail_with(allowed.error().code, allowed.error().message);
  fetch(stage::resource_document, {.url = address, .headers = {{"Accept", "application/json"}}});
}

void authorization::on_resource_document(const document_answer& a) {
  const std::string where = "the resource metadata at " + shown_url(step_.request.url);
  if (!a.ok()) {
    const bool missing = a.status >= 400 && a.status < 500;
    if (missing && options_.challenge.resource_metadata.empty()) return next_resource_document();
    return fail_with(missing ? errc::protocol : errc::unavailable, where + " cannot be read: " + a.refusal());
  }
  const auto document = a.json();
  if (!document) return fail_with(errc::protocol, where + " " + document.error().message);
  auto read = read_resource_metadata(*document, options_.server_url);
  if (!read) return fail_with(errc::protocol, where + " " + read.error().message);
  resource_document_ = std::move(*read);
  resource_ = resource_document_->resource;
  choose_server();
}

// Fails and returns false if the entry names another authorization server.
bool authorization::is_pinned(std::string_view issuer) {
  if (options_.issuer.empty() || issuer == options_.issuer) return true;
  fail_with(errc::config, "it names the authorization server " + shown_url(issuer) + ", and auth.issuer allows " +
                              shown_url(options_.issuer) + " only");
  return false;
}

void authorization::choose_server() {
  const auto& all = resource_document_->authorization_servers;
  std::string_view issuer = options_.issuer.empty() || !contains(all, options_.issuer) ? all.front() : options_.issuer;
  if (options_.issuer.empty() && options_.before && contains(all, options_.before->issuer))
    issuer = options_.before->issuer;
  if (auto allowed = rule_.check("its authorization server", issuer); !allowed)
    return fail_with(allowed.error().code, allowed.error().message);
  if (!is_pinned(issuer)) return;
  server_.issuer = issuer;
  addresses_ = server_metadata_addresses(issuer);
  std::ranges::reverse(addresses_);
  next_server_document();
}

// Authorization-server metadata.

void authorization::next_server_document() {
  if (addresses_.empty()) return without_server_document();
  const std::string address = std::exchange(addresses_.back(), {});
  addresses_.pop_back();
  fetch(stage::server_document, {.url = address, .headers = {{"Accept", "application/json"}}});
}

void authorization::on_server_document(const document_answer& a) {
  const std::string where = "the metadata of the authorization server at " + shown_url(step_.request.url);
  if (!a.ok()) {
    last_problem_ = where + " cannot be read: " + a.refusal();
    if (a.status >= 400 && a.status < 500) return next_server_document();
    return fail_with(errc::unavailable, last_problem_);
  }
  const auto document = a.json();
  if (!document) {
    // Some servers answer every address with a page of theirs.
    last_problem_ = where + " " + document.error().message;
    return next_server_document();
  }
  auto read = read_server_metadata(*document, server_.issuer, rule_);
  if (!read) return fail_with(errc::protocol, where + " " + read.error().message);
  server_ = std::move(*read);
  choose_scopes();
}

void authorization::without_server_document() {
  if (resource_document_) return fail_with(errc::protocol, last_problem_);
  server_ = assumed_metadata(options_.server_url);
  assumed_ = true;
  choose_scopes();
}

// The client and the person.

void authorization::choose_scopes() {
  if (options_.challenge.scope)
    scopes_ = scope_words(*options_.challenge.scope);
  else if (resource_document_ && resource_document_->scopes)
    scopes_ = *resource_document_->scopes;
  scopes_ = united_scopes(scopes_, options_.scopes);
  if (options_.before && options_.before->issuer == server_.issuer)
    scopes_ = united_scopes(options_.before->scopes, scopes_);
  if (options_.kind == grant_kind::person && server_.scopes && contains(*server_.scopes, offline_access))
    scopes_ = united_scopes(scopes_, {std::string(offline_access)});
  identify();
}

void authorization::identify() {
  if (!is_pinned(server_.issuer)) return;
  if (!options_.client_id.empty()) {
    // A client is registered at one authorization server, and its secret is for no other (2026-07-28,
    // client-registration, "Authorization Server Binding").
    if (const auto& b = options_.before; b && options_.issuer.empty() &&
                                         b->client.source == identity_source::configured &&
                                         b->client.id == options_.client_id && b->issuer != server_.issuer)
      return fail_with(errc::config, "it names another authorization server now, " + shown_url(server_.issuer) +
                                         ", than the one that auth.clientId was used at before, " +
                                         shown_url(b->issuer) + "; if that is right, log out of it first");
    client_ = {.source = identity_source::configured, .id = options_.client_id, .password = options_.client_secret};
    client_.signs = !options_.key.pem.empty();
  }
  if (options_.kind != grant_kind::person) return go_alone();
  if (!client_.id.empty()) {
    // It is known there already.
  } else if (server_.takes_client_metadata && !options_.client_document.empty()) {
    client_ = {.source = identity_source::document, .id = options_.client_document};
  } else if (server_.registration_endpoint.empty()) {
    return fail_with(errc::config,
                     "its authorization server " + shown_url(server_.issuer) +
                         " takes no registrations; register mcpbx there and set auth.clientId in the server's entry");
  }
  if (!server_.s256)
    return fail_with(errc::protocol, "its authorization server " + shown_url(server_.issuer) +
                                         " does not say that it knows PKCE with S256, so a login would not be safe");
  if (server_.authorization_endpoint.empty())
    return fail_with(errc::protocol,
                     "its authorization server " + shown_url(server_.issuer) + " has no authorization endpoint");
  const auto& before = options_.before;
  const bool same = before && before->issuer == server_.issuer && before->client.source == identity_source::registered;
  stage_ = stage::person;
  step_ = {.type = step::kind::listen, .url = same && client_.id.empty() ? before->client.redirect_uri : std::string()};
}

void authorization::listening(std::string redirect_uri) {
  if (step_.type != step::kind::listen) return;
  const std::string wanted = step_.url;
  redirect_uri_ = std::move(redirect_uri);
  if (!client_.id.empty()) return ask_person();
  // A registration holds for one redirect address; the port of the one before may be taken now.
  const bool renew = wanted.empty() || wanted != redirect_uri_ || options_.before->client.id.empty();
  if (!renew) {
    client_ = options_.before->client;
    return ask_person();
  }
  const bool refresh = server_.grant_types.empty() || server_.lists_grant("refresh_token");
  fetch(stage::registration,
        {.method = "POST",
         .url = server_.registration_endpoint,
         .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
         .body = registration_body(options_.client_name, redirect_uri_, joined_scopes(scopes_), server_, refresh)});
}

void authorization::on_registration(const document_answer& a) {
  const std::string where = "its authorization server " + shown_url(server_.issuer);
  if (!a.ok() && assumed_ && a.status < 500)
    return fail_with(errc::peer, "it says nowhere who authorizes for it, and takes no registration itself: " +
                                     a.refusal() + "; a server that asks for no login needs none");
  if (!a.ok())
    return fail_with(a.status >= 500 ? errc::unavailable : errc::peer,
                     where + " refused the registration of mcpbx: " + a.refusal() +
                         "; if it takes none, register mcpbx there and set auth.clientId in the server's entry");
  const auto document = a.json();
  if (!document)
    return fail_with(errc::protocol, where + ": its answer to the registration " + document.error().message);
  auto read = read_registration(*document);
  if (!read) return fail_with(errc::protocol, where + ": its answer to the registration " + read.error().message);
  client_ = std::move(*read);
  hide(client_.password.reveal());
  client_.redirect_uri = redirect_uri_;
  ask_person();
}

void authorization::ask_person() {
  if (const auto name = own_parameter(server_.authorization_endpoint); !name.empty())
    return fail_with(errc::protocol, "the authorization endpoint of " + shown_url(server_.issuer) +
                                         " brings a value of its own for " + name);
  verifier_ = unguessable(secrets_);
  expected_ = {unguessable(secrets_), server_.issuer, server_.tells_issuer};
  hide(verifier_);
  hide(expected_.state);
  form_fields fields = {{"response_type", "code"},
                        {"client_id", client_.id},
                        {"redirect_uri", redirect_uri_},
                        {"state", expected_.state},
                        {"code_challenge", s256_challenge(verifier_)},
                        {"code_challenge_method", "S256"}};
  if (!resource_.empty()) fields.emplace_back("resource", resource_);
  if (!scopes_.empty()) fields.emplace_back("scope", joined_scopes(scopes_));
  // OpenID Connect gives refresh tokens only where the person is asked again.
  if (contains(scopes_, offline_access)) fields.emplace_back("prompt", "consent");
  const std::string& endpoint = server_.authorization_endpoint;
  const auto end = std::min(endpoint.find('#'), endpoint.size());
  std::string url = endpoint.substr(0, end);
  url += url.find('?') == std::string::npos ? '?' : '&';
  url += form_text(fields);
  stage_ = stage::person;
  step_ = {.type = step::kind::browse, .url = std::move(url)};
}

redirect_answer::kind authorization::redirected(std::string_view query_or_address, std::int64_t wall_ms) {
  using kind = redirect_answer::kind;
  if (step_.type != step::kind::browse) return kind::not_ours;
  wall_ms_ = wall_ms;
  const auto answer = read_redirect(query_or_address, expected_);
  switch (answer.type) {
    case kind::not_ours:
      break;
    case kind::refused:
    case kind::forged:
      fail_with(answer.type == kind::forged ? errc::protocol : errc::peer, "the login failed: " + answer.text);
      break;
    case kind::code:
      hide(answer.text);
      ask_token({{"grant_type", "authorization_code"},
                 {"code", answer.text},
                 {"redirect_uri", redirect_uri_},
                 {"code_verifier", verifier_}});
      break;
  }
  return answer.type;
}

// The token.

void authorization::ask_token(form_fields fields) {
  if (!resource_.empty()) fields.emplace_back("resource", resource_);
  grant_.method = token_auth_method(client_, server_);
  std::vector<http::header> headers;
  if (auto proven =
          prove_client({client_, grant_.method, server_.issuer, options_.key}, wall_ms_, secrets_, fields, headers);
      !proven)
    return fail_with(proven.error().code, "its client cannot be proven: " + proven.error().message);
  fetch(stage::token, document_request::form(server_.token_endpoint, fields, std::move(headers)));
}

void authorization::on_token(const document_answer& a) {
  const std::string where = "its authorization server " + shown_url(server_.issuer);
  if (!a.ok())
    return fail_with(a.status >= 500 || a.status == 429 ? errc::unavailable : errc::peer,
                     where + " gave no token: " + a.refusal());
  const auto document = a.json();
  if (!document) return fail_with(errc::protocol, where + ": its token answer " + document.error().message);
  grant_.scopes = scopes_;
  if (auto taken = take_token_answer(*document, wall_ms_, grant_); !taken)
    return fail_with(errc::protocol, where + ": its token answer " + taken.error().message);
  // A later step up must ask for all scopes that were asked for before, even if the server names fewer.
  grant_.scopes = united_scopes(scopes_, grant_.scopes);
  grant_.issuer = server_.issuer;
  grant_.resource = resource_;
  grant_.token_endpoint = server_.token_endpoint;
  grant_.client = client_;
  stage_ = stage::over;
  step_ = {.type = step::kind::finished};
}

}  // namespace mcpbx::auth::flow
