// Secrets that an authorization server quotes, words that it would have blanked, and what other origins are shown.
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/encodings.hpp"
#include "test/daemon/logins/login_world.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::redact;
using namespace mcpbx::test;
using reply = authorization_server::reply;

// Logs in with an answer of the browser, and returns the sentence of the failure.
std::string failure_of(login_world& world) {
  std::optional<login_invitation> told;
  std::optional<std::string> said;
  world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i).value(); });
  REQUIRE(world.loop.until([&] { return told.has_value(); }));
  world.all->when_over({"files"}, nullptr, [&](const result<void>& o) { said = o ? "" : o.error().message; });
  get(world.loop, authorization_server::redirect_of(told->address, "the-code-canary-1"));
  REQUIRE(world.loop.until([&] { return said.has_value(); }));
  return *said;
}

TEST_CASE("logins: an authorization server that quotes the request shows none of its secrets") {
  login_world world;
  world.as.instead["/register"] = [](const std::string&) {
    return reply{201, R"({"client_id":"client","client_secret":"registered/of canary+1",)"
                      R"("token_endpoint_auth_method":"client_secret_post"})"};
  };
  world.as.instead["/token"] = [](const std::string& body) {
    return reply{400,
                 R"({"error":"invalid_grant","error_description":"bad: )" + body.substr(body.find("code=")) + "\"}"};
  };
  const std::string said = failure_of(world);
  CHECK(said.find("bad: code=***") != std::string::npos);
  CHECK(said.find("canary") == std::string::npos);
  const auto fields = auth::read_form(world.as.bodies.back()).value();
  for (const auto* name : {"code", "code_verifier", "client_secret"}) {
    REQUIRE_FALSE(auth::form_value(fields, name).empty());
    CHECK(said.find(auth::form_value(fields, name)) == std::string::npos);
  }
  CHECK(world.status().problem == said);
}

TEST_CASE("logins: the proof of a client and the refresh token are hidden where a server quotes them") {
  const std::string basic = base64("corp:the%2Fsecret%20of%20corp");
  login_world world;
  login_settings s{.url = world.as.server_url(), .client_id = "corp"};
  s.client_secret = secret("the/secret of corp");
  auto entry = world.entry(s);
  entry.fingerprint += " corp";
  world.all->set_entries({entry});
  world.log_in();
  world.as.instead["/token"] = [&](const std::string& body) {
    return reply{401, R"({"error":"invalid_client","error_description":"bad header Basic )" + basic + " of " +
                          body.substr(body.find("refresh_token=")) + "\"}"};
  };
  CHECK_FALSE(world.refuse());
  const std::string problem = world.status().problem;
  CHECK(problem.find("bad header Basic *** of refresh_token=***") != std::string::npos);
}

TEST_CASE("logins: tokens of earlier grants stay hidden until their end") {
  login_world world;
  world.log_in();
  for (int i = 0; i < 20; ++i) {
    world.pass_renewals();
    CHECK(world.refuse());
  }
  CHECK(world.tokens().header() == "Bearer token-number-21");
  CHECK(cut_for_people("it was token-number-1, then", 100) == "it was ***, then");
  world.clock.advance(std::chrono::hours(2));
  world.prepared();
  CHECK(cut_for_people("it was token-number-1, then", 100) == "it was token-number-1, then");
}

TEST_CASE("logins: an authorization server cannot have ordinary words blanked by its tokens") {
  login_world world;
  world.as.instead["/token"] = [](const std::string&) {
    return reply{200, R"({"access_token":"server","refresh_token":"HTTP/1.1","expires_in":3600})"};
  };
  world.log_in();
  CHECK(world.tokens().header() == "Bearer server");
  CHECK(cut_for_people("the server speaks HTTP/1.1", 100) == "the server speaks HTTP/1.1");
}

TEST_CASE("logins: the client certificate of an entry is shown to the server's origin alone") {
  const http::clients::trust own{.ca_file = "/ca.pem", .cert_file = "/me.pem", .key_file = "/me.key"};
  CHECK(trust_towards("https://a.example/token", "https://a.example/mcp", own) == own);
  for (const auto* other :
       {"https://b.example/token", "http://a.example/token", "https://a.example:8443/", "nothing"}) {
    const auto shown = trust_towards(other, "https://a.example/mcp", own);
    CHECK(shown.cert_file.empty());
    CHECK(shown.key_file.empty());
    CHECK(shown.ca_file == "/ca.pem");
    CHECK(shown.system_too);
  }
}

TEST_CASE("logins: those that have ended are held for their pages only and a handful of them") {
  login_world world;
  world.as.instead["/register"] = [](const std::string&) { return reply{400, "{}"}; };
  const auto tokens = std::dynamic_pointer_cast<entry_tokens>(world.all->tokens_of("files"));
  REQUIRE(tokens);
  for (int i = 0; i < 30; ++i) {
    bool over = false;
    world.all->begin({"files"}, nullptr, [&](const result<login_invitation>& t) { over = !t; });
    REQUIRE(world.loop.until([&] { return over; }));
    CHECK(tokens->ended_logins() <= 8);
  }
  CHECK(tokens->ended_logins() == 8);
  world.clock.advance(std::chrono::seconds(6));
  CHECK(tokens->ended_logins() == 0);
}

TEST_CASE("logins: a token that is refused just after its renewal is not renewed again for each request") {
  login_world world;
  world.log_in();
  CHECK(world.refuse());
  for (int i = 0; i < 20; ++i) CHECK_FALSE(world.refuse());
  CHECK(world.as.renewals == 1);
  CHECK(world.tokens().sentence() == "refuses the token that its authorization server has just given");
  world.pass_renewals();
  CHECK(world.refuse());
  CHECK(world.as.renewals == 2);
}

TEST_CASE("logins: a page with an error at the token endpoint throws no login away") {
  login_world world;
  world.log_in();
  for (const int status : {403, 404}) {
    world.as.instead["/token"] = [status](const std::string&) { return reply{status, "<html>blocked</html>"}; };
    CHECK_FALSE(world.refuse());
    CHECK(world.status().state == "logged_in");
  }
  world.as.instead.clear();
  CHECK(world.refuse());
  CHECK(world.tokens().header() == "Bearer token-number-2");
}

TEST_CASE("logins: a server that refuses the event stream alone costs no token and begins no login") {
  for (const bool renews : {false, true}) {
    CAPTURE(renews);
    login_world world;
    if (!renews)
      world.as.instead["/token"] = [](const std::string&) {
        return reply{200, R"({"access_token":"token-number-1","expires_in":3600})"};
      };
    auto opens = world.entry({.url = world.as.server_url(), .open = {"browser"}});
    world.all->set_entries({opens});
    world.log_in();
    std::optional<bool> again;
    const auto refuse_stream = [&] {
      again.reset();
      world.tokens().stream_refused(world.tokens().header(), [&](bool a) { again = a; });
      REQUIRE(world.loop.until([&] { return again.has_value(); }));
      return *again;
    };
    CHECK(refuse_stream() == renews);
    CHECK_FALSE(refuse_stream());  // not again and again
    CHECK(world.tokens().header() == (renews ? "Bearer token-number-2" : "Bearer token-number-1"));
    CHECK(world.status().state == "logged_in");
    CHECK(world.programs.empty());
    CHECK(world.tokens().sentence().empty());
    world.tokens().stream_refused("Bearer token-number-0", [&](bool a) { again = a; });
    CHECK(again == true);  // another token is there by now
  }
}

TEST_CASE("logins: the last assertions of an entry stay hidden and those long before them take no memory") {
  login_world world;
  world.as.instead["/register"] = [](const std::string&) { return reply{400, "{}"}; };
  int made = 0;
  auto entry = world.entry();
  entry.fingerprint += " asserts";
  entry.settings = [&made, url = world.as.server_url()](const auto& then) {
    then(login_settings{.url = url, .assertion = secret("assertion-" + std::to_string(++made) + "-canary")});
  };
  world.all->set_entries({entry});
  for (int i = 0; i < 20; ++i) {
    bool over = false;
    world.all->begin({"files"}, nullptr, [&](const result<login_invitation>& t) { over = !t; });
    REQUIRE(world.loop.until([&] { return over; }));
  }
  REQUIRE(made > 10);
  const auto named = [](int n) { return "assertion-" + std::to_string(n) + "-canary"; };
  for (int n = made - 7; n <= made; ++n) CHECK(cut_for_people(named(n), 100) == "***");
  CHECK(cut_for_people(named(made - 8), 100) == named(made - 8));
  world.all->set_entries({});
  CHECK(cut_for_people(named(made), 100) == named(made));
}

}  // namespace
