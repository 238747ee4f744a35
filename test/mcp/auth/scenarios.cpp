// The worlds of the scenarios.
#include "test/mcp/auth/scenarios.hpp"

#include "mcp/support/encodings.hpp"
#include "mcp/support/percent.hpp"
#include "test/mcp/auth/made_key.hpp"

#include <string>
#include <utility>

namespace mcpbx::test {
namespace {

using world = scripted_authorization;
using options = auth::flow::authorization::options;

constexpr const char* resource_document = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
constexpr const char* server_document = "https://as.example.com/.well-known/oauth-authorization-server";

void add(auth::flow::document_answer& document, std::string_view member) {
  document.body.insert(document.body.size() - 1, "," + std::string(member));
}

void replace(std::string& text, std::string_view old, std::string_view now) {
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size()))
    text.replace(at, old.size(), now);
}

// Moves the document of the authorization server to another address, for another issuer.
void move_issuer(world& w, std::string_view issuer, const std::string& address) {
  auto document = std::move(w.at[server_document]);
  w.at.erase(server_document);
  replace(document.body, R"("issuer":"https://as.example.com")", R"("issuer":")" + std::string(issuer) + '"');
  w.at[address] = std::move(document);
  replace(w.at[resource_document].body, R"(["https://as.example.com"])", R"([")" + std::string(issuer) + R"("])");
}

auto server_says(std::string member) {
  return [member = std::move(member)](world& w, options&) { add(w.at[server_document], member); };
}

auto resource_says(std::string member) {
  return [member = std::move(member)](world& w, options&) { add(w.at[resource_document], member); };
}

// The client has a secret, and the server takes it by these methods.
auto takes_methods(std::string methods) {
  return [methods = std::move(methods)](world& w, options&) {
    w.at["https://as.example.com/register"].body = R"({"client_id":"client-7","client_secret":"client-secret"})";
    add(w.at[server_document], R"("token_endpoint_auth_methods_supported":[)" + methods + "]");
  };
}

auto answered_by(std::string issuer, bool promised) {
  return [issuer = std::move(issuer), promised](world& w, options&) {
    if (promised) add(w.at[server_document], R"("authorization_response_iss_parameter_supported":true)");
    if (!issuer.empty()) w.answer += "&iss=" + percent_encoded(issuer);
  };
}

void with_own_client(world& w, options& o) {
  replace(w.at[server_document].body, R"(,"registration_endpoint":"https://as.example.com/register")", "");
  o.client_id = "mine";
  o.client_secret = redact::secret("my-secret");
}

// Returns an unsigned token for an audience.
redact::secret jwt_for(std::string_view audience) {
  return redact::secret("e30." + base64url(R"({"aud":")" + std::string(audience) + R"("})") + ".c2ln");
}

// The resource names another authorization server, which has a registration and tokens of its own.
void migrate(world& w, options&) {
  auto document = w.at[server_document];
  replace(document.body, "as.example.com", "new.example.com");
  w.at["https://new.example.com/.well-known/oauth-authorization-server"] = std::move(document);
  w.at["https://new.example.com/register"] = {201, R"({"client_id":"client-8"})"};
  w.at["https://new.example.com/token"] = {200, R"({"access_token":"token-2","expires_in":3600})"};
  replace(w.at[resource_document].body, "as.example.com", "new.example.com");
}

std::vector<auth_scenario> make() {
  const std::string_view plain = "Bearer";
  return {
      {"metadata-default", "The address of the server alone leads to its documents and to a token.", {{plain}}, true},
      {"metadata-openid",
       "The authorization server has the document of OpenID Connect alone.",
       {{plain,
         [](world& w, options&) {
           move_issuer(w, "https://as.example.com", "https://as.example.com/.well-known/openid-configuration");
         }}}},
      {"metadata-root",
       "The server's document is at its root, and the issuer has a path.",
       {{plain,
         [](world& w, options&) {
           move_issuer(w, "https://as.example.com/one",
                       "https://as.example.com/.well-known/oauth-authorization-server/one");
           w.at["https://mcp.example.com/.well-known/oauth-protected-resource"] = std::move(w.at[resource_document]);
           w.at.erase(resource_document);
         }}}},
      {"metadata-challenged",
       "The challenge says where the document is, and the issuer's is that of OpenID Connect below its path.",
       {{R"(Bearer resource_metadata="https://mcp.example.com/about/me.json")",
         [](world& w, options&) {
           move_issuer(w, "https://as.example.com/one", "https://as.example.com/one/.well-known/openid-configuration");
           w.at["https://mcp.example.com/about/me.json"] = std::move(w.at[resource_document]);
           w.at.erase(resource_document);
         }}}},
      {"metadata-none",
       "A server of 2025-03-26 has no document at all.",
       {{plain,
         [](world& w, options&) {
           w.at.clear();
           w.at["https://mcp.example.com/register"] = {201, R"({"client_id":"client-7"})"};
           w.at["https://mcp.example.com/token"] = {200, R"({"access_token":"token-1"})"};
         }}}},
      {"metadata-issuer-mismatch",
       "The document of the authorization server is about another one.",
       {{plain,
         [](world& w, options&) {
           replace(w.at[server_document].body, R"("issuer":"https://as.)", R"("issuer":"https://honest.)");
         }}},
       false,
       false},
      {"resource-mismatch",
       "The server's document is about another resource.",
       {{plain,
         [](world& w, options&) {
           replace(w.at[resource_document].body, "https://mcp.example.com/mcp", "https://honest.example.com/mcp");
         }}},
       false,
       false},
      {"client-document",
       "The id of the client is the address of a document about it.",
       {{plain,
         [](world& w, options& o) {
           add(w.at[server_document], R"("client_id_metadata_document_supported":true)");
           o.client_document = "https://client.example.com/client.json";
         }}}},
      {"client-registered-by-hand", "The client is known already, with a secret.", {{plain, with_own_client}}},
      {"scope-from-challenge",
       "The challenge names the scopes.",
       {{R"(Bearer scope="files:read files:list")", resource_says(R"("scopes_supported":["all"])")}}},
      {"scope-from-document",
       "The server's document names the scopes.",
       {{plain, resource_says(R"("scopes_supported":["files:read","files:list"])")}}},
      {"scope-none", "Nobody names scopes, so none are asked for.", {{plain}}},
      {"scope-step-up",
       "A call needs more rights: those and the ones before are asked for.",
       {{R"(Bearer scope="files:read")"},
        {R"(Bearer error="insufficient_scope", scope="files:write")",
         [](world& w, options&) { w.at["https://as.example.com/token"].body = R"({"access_token":"token-2"})"; }}}},
      {"scope-offline",
       "The authorization server lists offline_access, so it is asked for.",
       {{plain, server_says(R"("scopes_supported":["files:read","offline_access"])")}}},
      {"scope-offline-not-listed",
       "The authorization server does not list offline_access.",
       {{plain, server_says(R"("scopes_supported":["files:read"])")}}},
      {"token-basic",
       "The secret of the client goes into a header.",
       {{plain, takes_methods(R"("client_secret_basic")")}}},
      {"token-post",
       "The secret of the client goes into the form.",
       {{plain, takes_methods(R"("client_secret_post")")}}},
      {"token-none", "The authorization server wants no secret.", {{plain, takes_methods(R"("none")")}}},
      {"client-credentials",
       "The client itself is authorized, and nobody is asked.",
       {{plain,
         [](world& w, options& o) {
           with_own_client(w, o);
           o.kind = auth::flow::grant_kind::client_credentials;
         }}}},
      {"client-credentials-signed",
       "The client itself is authorized, by an assertion that it signs.",
       {{plain,
         [](world& w, options& o) {
           with_own_client(w, o);
           add(w.at[server_document], R"("token_endpoint_auth_methods_supported":["private_key_jwt"])");
           o.kind = auth::flow::grant_kind::client_credentials;
           o.client_secret = {};
           o.key = {redact::secret(made_key()), "key-1"};
         }}},
       true},
      {"workload",
       "The platform's signed token stands for the program; it is for this authorization server.",
       {{plain,
         [](world&, options& o) {
           o.kind = auth::flow::grant_kind::workload;
           o.client_id = "mine";
           o.assertion = jwt_for("https://as.example.com/");
         }}}},
      {"workload-other-audience",
       "The platform's signed token is for another authorization server, so it is not sent.",
       {{plain,
         [](world&, options& o) {
           o.kind = auth::flow::grant_kind::workload;
           o.assertion = jwt_for("https://honest.example.com");
         }}},
       false,
       false},
      {"enterprise",
       "A login at the organization is exchanged there for a token that the authorization server takes.",
       {{R"(Bearer scope="files:read")",
         [](world& w, options& o) {
           with_own_client(w, o);
           o.kind = auth::flow::grant_kind::enterprise;
           o.assertion = jwt_for("idp-client");
           o.provider = {"https://idp.example.com/token", "idp-client", redact::secret("idp-secret")};
           w.at["https://idp.example.com/token"] = {
               200, R"({"access_token":"e.id-jag.s","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag",)"
                    R"("token_type":"N_A"})"};
         }}}},
      {"migration",
       "The server names another authorization server: nothing of the one before is used.",
       {{plain}, {plain, migrate}}},
      {"issuer-of-entry",
       "The entry names its authorization server, and the server's document names another one.",
       {{plain,
         [](world& w, options& o) {
           with_own_client(w, o);
           o.issuer = "https://honest.example.com";
         }}},
       false,
       false},
      {"iss-right",
       "The answer says who it is from, as promised.",
       {{plain, answered_by("https://as.example.com", true)}}},
      {"iss-not-promised", "The answer does not say who it is from, and nobody promised it.", {{plain}}},
      {"iss-missing",
       "The answer does not say who it is from, in spite of the promise.",
       {{plain, answered_by("", true)}},
       false,
       false},
      {"iss-wrong",
       "The answer is from another authorization server.",
       {{plain, answered_by("https://evil.example.com", true)}},
       false,
       false},
      {"iss-unexpected",
       "The answer is from another authorization server, and nobody promised to say so.",
       {{plain, answered_by("https://evil.example.com", false)}},
       false,
       false},
      {"iss-normalized",
       "The issuer of the answer is the right one but for a slash.",
       {{plain, answered_by("https://as.example.com/", true)}},
       false,
       false},
  };
}

}  // namespace

const std::vector<auth_scenario>& auth_scenarios() {
  static const std::vector<auth_scenario> all = make();
  return all;
}

}  // namespace mcpbx::test
