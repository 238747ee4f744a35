// Whole authorizations, step by step and with every kind of wrong answer.
#include "test/mcp/auth/scripted_authorization.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace mcpbx::auth;
using namespace mcpbx::auth::flow;
using mcpbx::errc;
using mcpbx::redact::secret;
using mcpbx::test::scripted_authorization;
using kind = authorization::step::kind;

constexpr const char* resource_document = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
constexpr const char* server_document = "https://as.example.com/.well-known/oauth-authorization-server";

// Returns the sentence with which the flow failed, or "" if it did not.
std::string problem(scripted_authorization& world, authorization::options o = scripted_authorization::options()) {
  authorization flow(std::move(o), world.secrets);
  world.play(flow);
  return flow.now().type == kind::failed ? flow.now().problem.message : "";
}

void with_member(document_answer& document, std::string_view member) {
  document.body.insert(document.body.size() - 1, "," + std::string(member));
}

TEST_CASE("authorization: a server alone is enough to get from its address to tokens") {
  scripted_authorization world;
  authorization flow(scripted_authorization::options(), world.secrets);
  world.play(flow);
  REQUIRE(flow.now().type == kind::finished);
  CHECK(flow.granted().access_token.reveal() == "token-1");
  CHECK(flow.granted().refresh_token.reveal() == "refresh-1");
  CHECK(flow.granted().expires_at_ms == 3'601'000);
  CHECK(flow.granted().issuer == "https://as.example.com");
  CHECK(world.browsed("code_challenge_method") == "S256");
  CHECK(world.browsed("code_challenge") == s256_challenge(world.sent("code_verifier")));
  CHECK(world.browsed("resource") == "https://mcp.example.com/mcp");
  CHECK(world.sent("resource") == "https://mcp.example.com/mcp");
  CHECK(world.sent("redirect_uri") == world.redirect_uri);
  CHECK(world.browsed("state").size() == 43);
  CHECK(world.browsed("scope").empty());
}

TEST_CASE("authorization: the resource is sent exactly as it was published") {
  scripted_authorization world;
  world.at[resource_document].body =
      R"({"resource":"https://mcp.example.com","authorization_servers":["https://as.example.com"]})";
  CHECK(problem(world).empty());
  CHECK(world.sent("resource") == "https://mcp.example.com");
}

TEST_CASE("authorization: scopes come from the challenge, else from the document, else none are asked for") {
  scripted_authorization world;
  with_member(world.at[resource_document], R"("scopes_supported":["x","y"])");
  CHECK(problem(world).empty());
  CHECK(world.browsed("scope") == "x y");
  auto o = scripted_authorization::options();
  o.challenge.scope = "files:read";
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("scope") == "files:read");
}

TEST_CASE("authorization: a step up asks for what was granted before and what is needed now") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.challenge.scope = "write";
  o.before = grant{.issuer = "https://as.example.com", .scopes = {"read"}};
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("scope") == "read write");
  // A grant of another authorization server says nothing here.
  o.before->issuer = "https://old.example.com";
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("scope") == "write");
}

TEST_CASE("authorization: offline_access is asked for only where the server lists it") {
  scripted_authorization world;
  with_member(world.at[server_document], R"("scopes_supported":["offline_access"])");
  CHECK(problem(world).empty());
  CHECK(world.browsed("scope") == "offline_access");
  CHECK(world.browsed("prompt") == "consent");
}

TEST_CASE("authorization: a client of the entry is used as it is, and nothing is registered") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.client_id = "mine";
  o.client_secret = secret("s3cret");
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("client_id") == "mine");
  for (const auto& r : world.requests) CHECK(r.url != "https://as.example.com/register");
  CHECK(world.requests.back().headers.front().name == "Authorization");
}

TEST_CASE("authorization: a client of the entry is not shown to another authorization server than before") {
  for (const bool alone : {false, true}) {
    scripted_authorization world;
    auto o = scripted_authorization::options();
    o.client_id = "mine";
    o.client_secret = secret("s3cret");
    if (alone) o.kind = grant_kind::client_credentials;
    o.before = grant{.issuer = "https://old.example.com"};
    o.before->client = {.source = identity_source::configured, .id = "mine"};
    CHECK(problem(world, o).find("it names another authorization server now") != std::string::npos);
    CHECK(world.browsed_url.empty());
    for (const auto& r : world.requests) CHECK(r.method == "GET");
    o.before->issuer = "https://as.example.com";
    CHECK(problem(world, o).empty());
    o.before->issuer = "https://old.example.com";
    o.client_id = "another";
    CHECK(problem(world, o).empty());
  }
}

TEST_CASE("authorization: the address of a client document is the id where the server takes such") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.client_document = "https://mcpbx.example/client.json";
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("client_id") == "client-7");  // this server does not
  with_member(world.at[server_document], R"("client_id_metadata_document_supported":true)");
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("client_id") == "https://mcpbx.example/client.json");
  CHECK(world.sent("client_id") == "https://mcpbx.example/client.json");
}

TEST_CASE("authorization: the client proves itself by a method that the server lists") {
  const auto proof = [](std::string_view methods) {
    scripted_authorization world;
    world.at["https://as.example.com/register"].body = R"({"client_id":"c","client_secret":"s"})";
    with_member(world.at[server_document], R"("token_endpoint_auth_methods_supported":[)" + std::string(methods) + "]");
    CHECK(problem(world).empty());
    if (world.requests.back().headers.front().name == "Authorization") return std::string("basic");
    return world.sent("client_secret").empty() ? std::string("none") : std::string("post");
  };
  CHECK(proof(R"("client_secret_basic","client_secret_post")") == "basic");
  CHECK(proof(R"("client_secret_post")") == "post");
  CHECK(proof(R"("none")") == "none");
  CHECK(proof("") == "basic");
}

TEST_CASE("authorization: a registration is used again at its own server and its own redirect address only") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.before = grant{.issuer = "https://as.example.com"};
  o.before->client = {.source = identity_source::registered, .id = "earlier", .redirect_uri = world.redirect_uri};
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("client_id") == "earlier");
  world.redirect_uri = "http://127.0.0.1:40002/callback";  // the port of the earlier one was taken
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("client_id") == "client-7");
  o.before->issuer = "https://old.example.com";
  CHECK(problem(world, o).empty());
  CHECK(world.browsed("client_id") == "client-7");
}

TEST_CASE("authorization: a server without any document of its own is asked as servers of 2025-03-26 are") {
  scripted_authorization world;
  world.at.clear();
  world.at["https://mcp.example.com/register"] = {201, R"({"client_id":"c"})"};
  world.at["https://mcp.example.com/token"] = {200, R"({"access_token":"t"})"};
  CHECK(problem(world).empty());
  CHECK(world.browsed_url.starts_with("https://mcp.example.com/authorize?"));
  CHECK(world.browsed("resource").empty());
  // Most servers without such documents want no login at all.
  scripted_authorization open;
  open.at.clear();
  CHECK(problem(open).contains(
      "it says nowhere who authorizes for it, and takes no registration itself: HTTP status 404"));
}

TEST_CASE("authorization: client credentials ask nobody") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.kind = grant_kind::client_credentials;
  CHECK(problem(world, o).find("auth.clientId") != std::string::npos);
  o.client_id = "machine";
  o.client_secret = secret("s");
  CHECK(problem(world, o).empty());
  CHECK(world.browsed_url.empty());
  CHECK(world.sent("grant_type") == "client_credentials");
  CHECK(world.sent("resource") == "https://mcp.example.com/mcp");
}

TEST_CASE("authorization: answers that do not belong to it change nothing, and the right one still counts") {
  scripted_authorization world;
  world.answer = "code=stolen&state=wrong";
  authorization flow(scripted_authorization::options(), world.secrets);
  world.play(flow);
  REQUIRE(flow.now().type == kind::browse);
  CHECK(flow.redirected("error=access_denied&state=wrong", 1'000) == redirect_answer::kind::not_ours);
  world.answer = "code=the-code&state=STATE";
  world.play(flow);
  CHECK(flow.now().type == kind::finished);
  CHECK(flow.redirected("code=again&state=" + world.browsed("state"), 1'000) == redirect_answer::kind::not_ours);
}

TEST_CASE(
    "authorization: every wrong answer ends it with one sentence that names the server, the stage and the reason") {
  struct wrong {
    const char* url;
    document_answer answer;
    const char* says;
  };
  const wrong all[] = {
      {resource_document, {500, ""}, "the resource metadata at"},
      {resource_document, {302, ""}, "a redirect"},
      {resource_document, {200, "<html>"}, "is a web page"},
      {resource_document, {200, std::string((1u << 20) + 1, ' ')}, "is larger than"},
      {resource_document,
       {200, R"({"resource":"https://evil.example.com","authorization_servers":["https://x"]})"},
       "is about another resource"},
      {resource_document,
       {200, R"({"resource":"https://mcp.example.com","authorization_servers":["https://10.0.0.1"]})"},
       "a private network"},
      {server_document, {200, R"({"issuer":"https://honest","token_endpoint":"https://x/t"})"}, "names another issuer"},
      {server_document,
       {200, R"({"issuer":"https://as.example.com","token_endpoint":"https://x/t"})"},
       "takes no registrations"},
      {server_document,
       {200,
        R"({"issuer":"https://as.example.com","token_endpoint":"https://x/t","registration_endpoint":"https://x/r"})"},
       "PKCE"},
      {server_document, {404, ""}, "cannot be read: HTTP status 404"},
      {server_document, {503, ""}, "HTTP status 503"},
      {"https://as.example.com/register", {400, R"({"error":"invalid_redirect_uri"})"}, "invalid_redirect_uri"},
      {"https://as.example.com/register", {201, "{}"}, "has no client_id"},
      {"https://as.example.com/token",
       {400, R"({"error":"invalid_grant","error_description":"too late"})"},
       "invalid_grant: too late"},
      {"https://as.example.com/token", {200, "<html>login</html>"}, "its token answer is a web page"},
      {"https://as.example.com/token", {200, "{}"}, "no access_token"},
  };
  for (const auto& w : all) {
    scripted_authorization world;
    world.at[w.url] = w.answer;
    const std::string said = problem(world);
    CHECK_MESSAGE(said.starts_with("server \"files\": "), said);
    CHECK_MESSAGE(said.find(w.says) != std::string::npos, said);
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("authorization: an endpoint that brings its own redirect address or state is refused") {
  for (const auto* own : {"redirect_uri=https://evil", "state=x", "a=1&a=2"}) {
    scripted_authorization world;
    auto& body = world.at[server_document].body;
    body.replace(body.find("/authorize"), 10, "/authorize?" + std::string(own));
    CHECK_MESSAGE(problem(world).find("a value of its own") != std::string::npos, own);
  }
  scripted_authorization world;
  auto& body = world.at[server_document].body;
  body.replace(body.find("/authorize"), 10, "/authorize?tenant=1");
  CHECK(problem(world).empty());
  CHECK(world.browsed_url.starts_with("https://as.example.com/authorize?tenant=1&response_type=code&"));
}

TEST_CASE("authorization: a forged or missing iss ends it before the code is sent anywhere") {
  scripted_authorization world;
  with_member(world.at[server_document], R"("authorization_response_iss_parameter_supported":true)");
  CHECK(problem(world).find("does not say which authorization server") != std::string::npos);
  CHECK(world.requests.back().url == "https://as.example.com/register");
  world.answer = "code=c&state=STATE&iss=https%3A%2F%2Fevil";
  CHECK(problem(world).find("another authorization server") != std::string::npos);
  world.answer = "code=c&state=STATE&iss=https%3A%2F%2Fas.example.com";
  CHECK(problem(world).empty());
}

TEST_CASE("authorization: an address that nobody answers is named without its query") {
  scripted_authorization world;
  auto o = scripted_authorization::options();
  o.challenge.resource_metadata = "https://mcp.example.com/meta?key=hidden";
  authorization flow(o, world.secrets);
  flow.unreachable("did not answer in time");
  CHECK(flow.now().problem.code == errc::unavailable);
  CHECK(flow.now().problem.message.find("https://mcp.example.com/meta\" did not answer") != std::string::npos);
  CHECK(flow.now().problem.message.find("hidden") == std::string::npos);
}

TEST_CASE("authorization: calls that the step does not wait for are ignored") {
  scripted_authorization world;
  authorization flow(scripted_authorization::options(), world.secrets);
  flow.listening("http://127.0.0.1:1/");
  CHECK(flow.redirected("code=a&state=b", 1'000) == redirect_answer::kind::not_ours);
  CHECK(flow.now().type == kind::fetch);
  world.play(flow);
  flow.answered({200, "{}"}, 0);
  flow.unreachable("is late");
  CHECK(flow.now().type == kind::finished);
}

}  // namespace
