// Assertions that a client signs, tokens of others that it passes on, and the flows that need them and have not got
// them.
#include "mcp/auth/client_assertion.hpp"

#include "mcp/support/encodings.hpp"
#include "test/mcp/auth/made_key.hpp"
#include "test/mcp/auth/scripted_authorization.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx::auth;
using namespace mcpbx::auth::flow;
using mcpbx::base64url;
using mcpbx::errc;
using mcpbx::redact::secret;
using mcpbx::test::made_key;
using mcpbx::test::scripted_authorization;
using kind = authorization::step::kind;

std::string token_with(std::string_view claims) {
  return "e30." + base64url(claims) + ".c2ln";
}

TEST_CASE("client_assertion: it is for one authorization server and a minute, and each one is another") {
  mcpbx::test::known_secrets random;
  const client_key key{secret(made_key()), ""};
  const auto first = client_assertion(key, "mine", "https://as.example.com", 5'000, random).value();
  const auto second = client_assertion(key, "mine", "https://as.example.com", 5'000, random).value();
  CHECK(first != second);
  const auto claims = mcpbx::base64url_bytes(first.substr(first.find('.') + 1, first.rfind('.') - first.find('.') - 1));
  CHECK(claims.value_or("").starts_with(
      R"({"iss":"mine","sub":"mine","aud":"https://as.example.com","iat":5,"exp":65,"jti":")"));
  const auto bad = client_assertion({secret("canary-key"), ""}, "mine", "x", 0, random);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == errc::config);
  CHECK(bad.error().message.starts_with("auth.privateKey is no private key"));
}

TEST_CASE("client_assertion: a client with a key signs unless the server wants a secret that it has, too") {
  client_identity client{.id = "mine", .signs = true};
  server_metadata server;
  CHECK(token_auth_method(client, server) == "private_key_jwt");
  server.auth_methods = {"client_secret_basic"};
  CHECK(token_auth_method(client, server) == "private_key_jwt");
  client.password = secret("s");
  CHECK(token_auth_method(client, server) == "client_secret_basic");
  server.auth_methods.emplace_back("private_key_jwt");
  CHECK(token_auth_method(client, server) == "private_key_jwt");
}

TEST_CASE("client_assertion: a token of somebody else is passed on to the server that it is for and to no other") {
  const auto says = [](std::string_view token) {
    const auto meant = check_audience(token, "https://as.example.com/one", "https://as.example.com/one/token");
    return meant ? std::string() : meant.error().message;
  };
  CHECK(says(token_with(R"({"aud":"https://as.example.com/one"})")).empty());
  CHECK(says(token_with(R"({"aud":"https://as.example.com/one/"})")).empty());
  CHECK(says(token_with(R"({"aud":["x","https://as.example.com/one/token"]})")).empty());
  CHECK(says(token_with(R"({"aud":"https://as.example.com"})")) == "is for \"https://as.example.com\"");
  CHECK(says(token_with(R"({"aud":"https://as.example.com/one/token/"})")).starts_with("is for"));
  for (const std::string_view none : {R"({})", R"({"aud":7})", R"({"aud":[]})", R"({"aud":""})"})
    CHECK(says(token_with(none)) == "does not say which authorization server it is for");
  for (const std::string& none : {std::string(), std::string("opaque"), std::string("a.b"), std::string("a.!.c"),
                                  token_with("[]"), token_with("no"), std::string(70'000, '.')})
    CHECK(says(none) == "is no signed token (a JWT)");
}

TEST_CASE("authorization: a login without a person says what its entry lacks or what was refused") {
  using options = authorization::options;
  struct wrong {
    std::function<void(scripted_authorization&, options&)> change;
    const char* says;
    errc code = errc::config;
  };
  const auto enterprise = [](options& o) {
    o.kind = grant_kind::enterprise;
    o.client_id = "mine";
    o.assertion = secret(token_with(R"({"aud":"idp"})"));
    o.provider.token_url = "https://idp.example.com/token";
  };
  const auto answers = [&](int status, std::string body) {
    return [=](scripted_authorization& w, options& o) {
      enterprise(o);
      w.at["https://idp.example.com/token"] = {status, body};
    };
  };
  const wrong all[] = {
      {[](auto&, options& o) { o.kind = grant_kind::client_credentials; }, "needs auth.clientId"},
      {[](auto&, options& o) { o.kind = grant_kind::workload; }, "needs auth.assertion"},
      {[](auto&, options& o) {
         o.kind = grant_kind::workload;
         o.assertion = secret("opaque-canary");
       },
       "auth.assertion is no signed token (a JWT), so it is not sent"},
      {[](auto&, options& o) { o.kind = grant_kind::enterprise; }, "needs auth.clientId"},
      {[&](auto&, options& o) {
         enterprise(o);
         o.assertion = {};
       },
       "needs auth.assertion"},
      {[&](auto&, options& o) {
         enterprise(o);
         o.provider.token_url.clear();
       },
       "needs auth.idpTokenUrl"},
      {[&](auto&, options& o) {
         enterprise(o);
         o.provider.token_url = "http://idp.example.com/token";
       },
       "auth.idpTokenUrl must begin with https://"},
      {[](auto&, options& o) {
         o.kind = grant_kind::client_credentials;
         o.client_id = "mine";
         o.key.pem = secret("canary");
       },
       "its client cannot be proven: auth.privateKey is no private key"},
      {answers(400, R"({"error":"invalid_grant","error_description":"it has ended"})"),
       "gave no token for it: HTTP status 400 (invalid_grant: it has ended); auth.assertion must be the ID token",
       errc::peer},
      {answers(503, ""), "gave no token for it: HTTP status 503", errc::unavailable},
      {answers(200, "<html>"), "its answer is a web page", errc::protocol},
      {answers(200, R"({"access_token":""})"), "has no token of the kind", errc::protocol},
      {answers(200, R"({"access_token":"t","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"})"),
       "has no token of the kind", errc::protocol},
  };
  for (const auto& one : all) {
    CAPTURE(one.says);
    scripted_authorization world;
    auto o = scripted_authorization::options();
    one.change(world, o);
    authorization flow(o, world.secrets);
    world.play(flow);
    REQUIRE(flow.now().type == kind::failed);
    CHECK(flow.now().problem.code == one.code);
    const auto& said = flow.now().problem.message;
    CHECK_MESSAGE(said.contains(one.says), said);
    CHECK(said.starts_with("server \"files\": "));
    CHECK_FALSE(said.contains("canary"));
    CHECK(world.browsed_url.empty());
    for (const auto& r : world.requests) CHECK(r.url != "https://as.example.com/token");
  }
}

TEST_CASE("authorization: a platform's token needs no client id, and its refusal ends the login without another try") {
  scripted_authorization world;
  world.at["https://as.example.com/token"] = {400, R"({"error":"invalid_grant"})"};
  auto o = scripted_authorization::options();
  o.kind = grant_kind::workload;
  o.assertion = secret(token_with(R"({"aud":"https://as.example.com"})"));
  authorization flow(o, world.secrets);
  world.play(flow);
  CHECK(flow.now().type == kind::failed);
  CHECK(world.requests.size() == 3);
  CHECK(world.sent("client_id").empty());
  CHECK(world.sent("assertion") == o.assertion.reveal());
}

TEST_CASE("authorization: the identity provider of a public server's entry may be on this machine") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.kind = grant_kind::enterprise;
  o.client_id = "mine";
  o.assertion = secret(token_with(R"({"aud":"idp"})"));
  o.provider.token_url = "http://127.0.0.1:4711/token";
  world.at[o.provider.token_url] = {200, R"({"access_token":"for-the-server-1"})"};
  authorization flow(o, world.secrets);
  int asked = 0;
  while (flow.now().type == kind::fetch) {
    const bool provider = flow.now().request.url == o.provider.token_url;
    asked += provider;
    CHECK(flow.rule().check_address("127.0.0.1", "127.0.0.1").has_value() == provider);
    if (!world.step(flow)) break;
  }
  CHECK(asked == 1);
  CHECK(flow.now().type == kind::finished);
  CHECK_FALSE(flow.rule().check_address("127.0.0.1", "127.0.0.1"));
}

}  // namespace
