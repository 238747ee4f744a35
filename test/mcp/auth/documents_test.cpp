// The two metadata documents and where they are looked for.
#include "mcp/auth/metadata.hpp"
#include "test/mcp/auth/parsed.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace mcpbx::auth;
using mcpbx::test::parsed;
using texts = std::vector<std::string>;

const endpoint_rule open_rule = endpoint_rule::of("https://mcp.example.com/a/mcp", false);

TEST_CASE("documents: resource metadata is looked for at the path and then at the root, or where the challenge says") {
  CHECK(resource_metadata_addresses("https://mcp.example.com/a/mcp?x=1", "") ==
        texts{"https://mcp.example.com/.well-known/oauth-protected-resource/a/mcp",
              "https://mcp.example.com/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_addresses("https://mcp.example.com", "") ==
        texts{"https://mcp.example.com/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_addresses("https://mcp.example.com/a", "https://x/y") == texts{"https://x/y"});
  CHECK(resource_metadata_addresses("unix:/run/x", "").empty());
}

TEST_CASE("documents: server metadata is looked for in the order of the specification") {
  CHECK(server_metadata_addresses("https://auth.example.com/tenant1") ==
        texts{"https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
              "https://auth.example.com/.well-known/openid-configuration/tenant1",
              "https://auth.example.com/tenant1/.well-known/openid-configuration"});
  CHECK(server_metadata_addresses("https://auth.example.com/") ==
        texts{"https://auth.example.com/.well-known/oauth-authorization-server",
              "https://auth.example.com/.well-known/openid-configuration"});
}

TEST_CASE("documents: resource metadata counts for the server itself or a path above it, at the same origin") {
  const auto about = [](std::string_view resource) {
    return read_resource_metadata(
        parsed(R"({"resource":")" + std::string(resource) + R"(","authorization_servers":["https://as"]})"),
        "https://mcp.example.com/a/mcp");
  };
  CHECK(about("https://mcp.example.com/a/mcp"));
  CHECK(about("https://mcp.example.com/a/mcp/"));
  CHECK(about("https://mcp.example.com/a"));
  CHECK(about("https://mcp.example.com")->resource == "https://mcp.example.com");
  CHECK_FALSE(about("https://mcp.example.com/a/m"));
  CHECK_FALSE(about("https://mcp.example.com/other"));
  CHECK_FALSE(about("https://evil.example.com/a/mcp"));
  CHECK_FALSE(about("http://mcp.example.com/a/mcp"));
}

TEST_CASE("documents: resource metadata without a resource or without a server is refused with the reason") {
  const auto read = [](std::string_view text) {
    return read_resource_metadata(parsed(text), "https://mcp.example.com/a/mcp").error().message;
  };
  CHECK(read("[]") == "is no JSON object");
  CHECK(read(R"({"authorization_servers":["https://as"]})") == "has no resource");
  CHECK(read(R"({"resource":"https://mcp.example.com","authorization_servers":[]})") ==
        "names no authorization server");
  CHECK(read(R"({"resource":"https://mcp.example.com","authorization_servers":[7]})") ==
        "names no authorization server");
}

TEST_CASE("documents: server metadata of another issuer is refused, in the plainest comparison") {
  const auto named = [](std::string_view issuer) {
    return read_server_metadata(
        parsed(R"({"issuer":")" + std::string(issuer) + R"(","token_endpoint":"https://as/token"})"), "https://as",
        open_rule);
  };
  CHECK(named("https://as"));
  for (const auto* other : {"https://as/", "https://AS", "https://as:443", "http://as", "https://honest"})
    CHECK_MESSAGE(!named(other), other);
}

TEST_CASE("documents: endpoints of server metadata must be ones that may be used") {
  const auto with = [](std::string_view name, std::string_view url) {
    return read_server_metadata(parsed(R"({"issuer":"https://as","token_endpoint":"https://as/token",")" +
                                       std::string(name) + "\":\"" + std::string(url) + "\"}"),
                                "https://as", open_rule);
  };
  CHECK(with("authorization_endpoint", "https://other/authorize"));
  CHECK_FALSE(with("authorization_endpoint", "http://127.0.0.1/authorize"));
  CHECK_FALSE(with("registration_endpoint", "https://192.168.0.1/register"));
  CHECK_FALSE(with("authorization_endpoint", "javascript:alert(1)"));
}

TEST_CASE("documents: a server metadata document says what it supports") {
  const auto m = read_server_metadata(
                     parsed(R"({"issuer":"https://as","token_endpoint":"https://as/token","scopes_supported":["a","b"],
                              "grant_types_supported":["authorization_code","refresh_token"],
                              "code_challenge_methods_supported":["plain","S256"],
                              "client_id_metadata_document_supported":true,
                              "authorization_response_iss_parameter_supported":true,
                              "token_endpoint_auth_methods_supported":["none"]})"),
                     "https://as", open_rule)
                     .value();
  CHECK(m.s256);
  CHECK(m.takes_client_metadata);
  CHECK(m.tells_issuer);
  CHECK(m.lists_grant("refresh_token"));
  CHECK(m.scopes == texts{"a", "b"});
  CHECK(m.auth_methods == texts{"none"});
}

TEST_CASE("documents: a list of a million words is read as its first 500") {
  std::string words;
  for (int i = 0; i < 100'000; ++i) words += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  const auto m = read_server_metadata(
      parsed(R"({"issuer":"https://as","token_endpoint":"https://as/token","scopes_supported":[)" + words + "]}"),
      "https://as", open_rule);
  REQUIRE(m);
  CHECK(m->scopes->size() == 500);
}

}  // namespace
