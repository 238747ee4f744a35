// Token answers, and grants on disk.
#include "mcp/auth/grant.hpp"

#include "mcp/auth/flow/renewal.hpp"
#include "test/mcp/auth/parsed.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace mcpbx::auth;
using namespace mcpbx::auth::flow;
using mcpbx::errc;
using mcpbx::redact::secret;
using mcpbx::test::parsed;

grant sample() {
  grant g;
  g.issuer = "https://as";
  g.resource = "https://mcp/x";
  g.token_endpoint = "https://as/token";
  g.client = {.source = identity_source::registered, .id = "me", .password = secret("pass word"), .method = "none"};
  g.method = "client_secret_basic";
  g.access_token = secret("token-one");
  g.refresh_token = secret("refresh-one");
  g.expires_at_ms = 1'000'000;
  g.scopes = {"a", "b"};
  return g;
}

TEST_CASE("grant: a token answer sets tokens, end and scopes, and keeps a refresh token that it does not renew") {
  grant g = sample();
  REQUIRE(take_token_answer(parsed(R"({"access_token":"t2","token_type":"bearer","expires_in":60,"scope":"c"})"), 5'000,
                            g));
  CHECK(g.access_token.reveal() == "t2");
  CHECK(g.refresh_token.reveal() == "refresh-one");
  CHECK(g.expires_at_ms == 65'000);
  CHECK(g.scopes == std::vector<std::string>{"c"});
}

TEST_CASE("grant: an answer without a usable Bearer token is refused") {
  for (const auto* bad :
       {"[]", "{}", R"({"access_token":""})", R"({"access_token":"a\r\nX: y"})", R"({"access_token":7})",
        R"({"access_token":"a","token_type":"DPoP"})", R"({"access_token":"a b"})"}) {
    grant g;
    CHECK_MESSAGE(!take_token_answer(parsed(bad), 0, g), bad);
  }
}

TEST_CASE("grant: a token wants to be renewed a minute before its end, and never if no end is told") {
  grant g = sample();
  CHECK_FALSE(g.wants_renewal(939'999));
  CHECK(g.wants_renewal(940'000));
  CHECK(g.wants_renewal(2'000'000));
  g.expires_at_ms = -1;
  CHECK_FALSE(g.wants_renewal(2'000'000));
  g.access_token = {};
  CHECK(g.wants_renewal(0));
}

TEST_CASE("grant: what is written to disk is read back whole") {
  const grant g = sample();
  const grant back = read_grant(parsed(grant_json(g))).value();
  CHECK(grant_json(back) == grant_json(g));
  CHECK(back.client.source == identity_source::registered);
  CHECK(back.client.password.reveal() == "pass word");
  CHECK_FALSE(read_grant(parsed("{}")));
  CHECK_FALSE(read_grant(parsed(R"({"issuer":"a","resource":"b","source":"stolen"})")));
}

TEST_CASE("renewal: the request has the refresh token, the resource and the client's proof") {
  const auto r = renewal_request(sample(), 0).value();
  CHECK(r.url == "https://as/token");
  CHECK(r.body == "grant_type=refresh_token&refresh_token=refresh-one&resource=https%3A%2F%2Fmcp%2Fx");
  CHECK(r.headers.front().value == "Basic bWU6cGFzcyUyMHdvcmQ=");
  grant without = sample();
  without.refresh_token = {};
  CHECK(renewal_request(without, 0).error().code == errc::not_found);
  grant old = sample();
  old.client.expires_at_ms = 10;
  CHECK(renewal_request(old, 10).error().code == errc::not_found);
}

TEST_CASE("renewal: a refused token needs a person, a busy server only time") {
  const grant g = sample();
  CHECK(renewed(g, {400, R"({"error":"invalid_grant"})"}, 0).error().code == errc::peer);
  CHECK(renewed(g, {401, R"({"error":"invalid_client"})"}, 0).error().code == errc::peer);
  for (const auto* other : {"", "<html>no such page</html>", "{}", R"({"error":"invalid_request"})", "[7]"})
    for (const int status : {400, 401, 403, 404, 302}) {
      CAPTURE(other);
      CHECK(renewed(g, {status, other}, 0).error().code == errc::unavailable);
    }
  CHECK(renewed(g, {503, R"({"error":"invalid_grant"})"}, 0).error().code == errc::unavailable);
  CHECK(renewed(g, {503, "busy"}, 0).error().code == errc::unavailable);
  CHECK(renewed(g, {429, ""}, 0).error().code == errc::unavailable);
  CHECK(renewed(g, {200, "<html>"}, 0).error().message.find("web page") != std::string::npos);
  const auto next = renewed(g, {200, R"({"access_token":"t2","refresh_token":"r2"})"}, 0).value();
  CHECK(next.access_token.reveal() == "t2");
  CHECK(next.refresh_token.reveal() == "r2");
  CHECK(next.scopes == g.scopes);
}

TEST_CASE("renewal: the password inside of the client's proof is hidden as it is escaped and as it is") {
  auto g = sample();
  g.client.password = secret("of/provider +canary-1");
  const auto request = renewal_request(g, 0);
  REQUIRE(request);
  const auto hidden = request->secrets();
  CHECK(mcpbx::redact::redactor::redact("bad: of%2Fprovider%20%2Bcanary-1, of/provider +canary-1.") ==
        "bad: ***, ***.");
}

}  // namespace
