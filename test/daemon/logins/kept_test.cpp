// Tokens on disk that cannot be read now, that another daemon has changed, or that could not be written.
#include "mcp/support/encodings.hpp"
#include "test/daemon/logins/login_world.hpp"
#include "test/mcp/auth/made_key.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::credentials;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::redact;
using namespace mcpbx::test;

// Settings of a client that a person has registered.
login_settings with_client(const login_world& world, const std::string& issuer = {}) {
  login_settings s{.url = world.as.server_url(), .issuer = issuer, .client_id = "corp"};
  s.client_secret = secret("the-secret-of-the-client");
  return s;
}

// Begins a login and returns the issuer whose page the person is sent to, or the error.
std::string where(login_world& world) {
  std::optional<std::string> said;
  world.all->begin({"files"}, nullptr,
                   [&](const result<login_invitation>& i) { said = i ? i->issuer : i.error().message; });
  REQUIRE(world.loop.until([&] { return said.has_value(); }));
  world.all->log_out({"files"}, [](const result<void>&) {});
  return *said;
}

TEST_CASE("logins: a client of the entry is shown to nobody while the tokens that bind it cannot be read") {
  for (const bool damaged : {false, true}) {
    login_world world;
    world.all->set_entries({world.entry(with_client(world))});
    world.log_in();
    const std::string file = world.dir / "credentials.json";
    if (damaged)
      std::filesystem::resize_file(file, 14);
    else
      world.locked = true;
    world.all = world.daemon_beside();
    world.all->set_entries({world.entry(with_client(world))});
    const auto asked = world.as.asked["/token"];
    std::optional<std::string> said;
    world.all->begin({"files"}, nullptr,
                     [&](const result<login_invitation>& i) { said = i ? "begun" : i.error().message; });
    REQUIRE(world.loop.until([&] { return said.has_value(); }));
    CHECK(said->find("no login is begun with the client of its entry") != std::string::npos);
    CHECK(said->find(damaged ? "is no JSON" : "the tokens are there but their key") != std::string::npos);
    CHECK(world.as.asked["/token"] == asked);
    CHECK(said->find(world.status().problem) != std::string::npos);
    // A person who has named the authorization server needs no tokens for it.
    auto pinned = world.entry(with_client(world, world.as.base()));
    pinned.fingerprint += " pinned";
    world.all->set_entries({pinned});
    CHECK(where(world) == world.as.base());
  }
}

TEST_CASE("logins: auth.issuer allows its authorization server only from the first login on") {
  login_world world;
  auto other = world.entry(with_client(world, "https://login.example.com"));
  other.fingerprint += " other";
  world.all->set_entries({other});
  const std::string said = where(world);
  CHECK(said.find("names the authorization server \"" + world.as.base() + "\"") != std::string::npos);
  CHECK(said.find("auth.issuer allows \"https://login.example.com\" only") != std::string::npos);
  CHECK(world.as.asked["/.well-known/oauth-authorization-server"] == 0);
  auto pinned = world.entry(with_client(world, world.as.base()));
  pinned.fingerprint += " pinned";
  world.all->set_entries({pinned});
  world.log_in();
}

TEST_CASE("logins: tokens whose key could not be had are read once it can be had") {
  login_world world;
  world.log_in();
  world.locked = true;
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared().empty());
  CHECK(world.status().problem.find("the tokens are there but their key (systemd) cannot be had now") == 0);
  CHECK(world.status().state == "none");
  CHECK_FALSE(world.refuse());
  CHECK(world.tokens().sentence().find("cannot use its login: the tokens are there but their key (systemd)") == 0);
  CHECK(world.changed.size() == 1);
  world.locked = false;
  CHECK(world.status().state == "logged_in");
  CHECK(world.changed == std::vector<std::string>{"files", "files"});  // connections are opened anew with them
  CHECK(world.status().problem.empty());
  CHECK(world.prepared() == "Bearer token-number-1");
}

TEST_CASE(
    "logins: tokens that could not be written are later than those on disk and are written with a later request") {
  login_world world;
  world.log_in();
  const std::string file = world.dir / "credentials.json";
  std::filesystem::rename(file, file + ".good");
  std::ofstream(file) << "damaged";
  CHECK(world.refuse());
  CHECK(world.tokens().header() == "Bearer token-number-2");
  CHECK(world.status().problem.find("the tokens hold until mcpbx ends") == 0);
  std::filesystem::rename(file + ".good", file);
  // The spent refresh token on disk is not taken.
  world.pass_renewals();
  CHECK(world.refuse());
  CHECK(world.as.bodies.back().find("refresh-number-2") != std::string::npos);
  CHECK(world.tokens().header() == "Bearer token-number-3");
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared() == "Bearer token-number-3");
}

TEST_CASE("logins: a logout at one daemon is one at another that has the same tokens") {
  login_world world;
  world.log_in();
  auto other = world.daemon_beside();
  other->set_entries({world.entry()});
  std::optional<result<void>> out;
  other->log_out({"files"}, [&](result<void> o) { out = std::move(o); });
  REQUIRE(world.loop.until([&] { return out.has_value(); }));
  CHECK_FALSE(world.refuse());
  CHECK(world.as.renewals == 0);
  CHECK(world.status().state == "none");
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared().empty());
}

TEST_CASE("logins: a server of the same name at another address keeps its tokens when this one logs out") {
  login_world world;
  world.log_in();
  auto other = world.daemon_beside();
  other->set_entries({world.entry({.url = world.as.server_url() + "/elsewhere"})});
  std::optional<result<void>> out;
  other->log_out({"files"}, [&](result<void> o) { out = std::move(o); });
  REQUIRE(world.loop.until([&] { return out.has_value(); }));
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared() == "Bearer token-number-1");
}

// Changes the tokens of "files" as another daemon does, at once.
void put_in_file(const login_world& world, const std::optional<std::string>& text) {
  credential_file file(world.dir / "credentials.json",
                       [] { return credential_key{key_place::systemd, std::string(32, 'k')}; });
  REQUIRE(file.write(world.name_in_file(), text));
}

// Returns the text of the tokens in the file, or "".
std::string text_in_file(const login_world& world) {
  credential_file file(world.dir / "credentials.json",
                       [] { return credential_key{key_place::systemd, std::string(32, 'k')}; });
  return file.find(world.name_in_file()).value().value_or("");
}

// Returns the text with another serial number.
std::string with_serial(const std::string& text, const std::string& serial) {
  const auto at = text.find("\"serial\":") + 9;
  return text.substr(0, at) + serial + text.substr(text.find(',', at));
}

TEST_CASE("logins: a logout at one daemon holds while another waits for its renewal") {
  login_world world;
  world.log_in();
  world.as.instead["/token"] = [&](const std::string&) {
    put_in_file(world, std::nullopt);
    return authorization_server::reply{
        200, R"({"access_token":"token-late-1","refresh_token":"refresh-late-1","expires_in":3600})"};
  };
  world.refuse();
  CHECK(world.status().state == "none");
  CHECK(world.tokens().header().empty());
  CHECK(text_in_file(world).empty());
  // A login writes tokens where none are.
  world.as.instead.clear();
  world.log_in();
  CHECK_FALSE(text_in_file(world).empty());
}

TEST_CASE("logins: a renewal takes no tokens of another authorization server out of the file") {
  login_world world;
  auto pinned = world.entry(with_client(world, world.as.base()));
  pinned.fingerprint += " pinned";
  world.all->set_entries({pinned});
  world.log_in();
  auto text = with_serial(text_in_file(world), std::to_string(world.clock.wall_ms() + 3'600'000));
  const auto issuer = text.find("\"issuer\":\"") + 10;
  text.replace(issuer, text.find('"', issuer) - issuer, "https://other.example.com");
  text.replace(text.find("token-number-1"), 14, "token-of-other");
  put_in_file(world, text);
  CHECK(world.refuse());
  CHECK(world.tokens().header() == "Bearer token-number-2");
}

TEST_CASE("logins: a serial number that no daemon can have written does not keep later tokens out of the file") {
  for (const auto* serial : {"9223372036854775807", "-7"}) {
    CAPTURE(serial);
    login_world world;
    world.log_in();
    put_in_file(world, with_serial(text_in_file(world), serial));
    world.all = world.daemon_beside();
    world.all->set_entries({world.entry()});
    CHECK(world.prepared() == "Bearer token-number-1");
    CHECK(world.refuse());
    world.all = world.daemon_beside();
    world.all->set_entries({world.entry()});
    CHECK(world.prepared() == "Bearer token-number-2");
  }
}

TEST_CASE("logins: tokens stay with their address when the reference behind it gives another one") {
  login_world world;
  const auto home = world.as.server_url(), other = home + "/other";
  const auto url = std::make_shared<std::string>(home);
  auto moving = world.entry();
  moving.fingerprint += " moving";
  moving.settings = [url](const auto& then) { then(login_settings{.url = *url}); };
  world.all->set_entries({moving});
  world.log_in();
  const auto header_at = [&](mcp::connect::authorizer& tokens) {
    bool ready = false;
    tokens.prepare([&] { ready = true; });
    REQUIRE(world.loop.until([&] { return ready; }));
    return tokens.header();
  };
  const auto before = world.all->tokens_at("files", home);
  CHECK(header_at(*before) == "Bearer token-number-1");
  *url = other;
  const auto after = world.all->tokens_at("files", other);
  CHECK(header_at(*after).empty());
  CHECK(before->header().empty());
  CHECK(world.status().state == "none");
  // Tokens of the new address do not go to the old one, whose refusals cause nothing.
  world.as.instead["/.well-known/oauth-protected-resource/mcp/other"] = [&](const std::string&) {
    return authorization_server::reply{
        200, R"({"resource":")" + other + R"(","authorization_servers":[")" + world.as.base() + R"("]})"};
  };
  world.log_in();
  CHECK(header_at(*after) == "Bearer token-number-2");
  CHECK(header_at(*before).empty());
  std::optional<bool> again;
  before->refused(401, "Bearer", "", [&](bool a) { again = a; });
  CHECK(again == false);
  again.reset();
  before->stream_refused("", [&](bool a) { again = a; });
  CHECK(again == false);
  // Each address has its own tokens on disk.
  *url = home;
  CHECK(header_at(*world.all->tokens_at("files", home)) == "Bearer token-number-1");
  CHECK(world.as.renewals == 0);
}

TEST_CASE("logins: a login that finds another address than its tokens ends with a sentence") {
  login_world world;
  const auto url = std::make_shared<std::string>(world.as.server_url());
  auto moving = world.entry();
  moving.fingerprint += " moving";
  moving.settings = [url](const auto& then) { then(login_settings{.url = *url}); };
  world.all->set_entries({moving});
  world.log_in();
  *url += "/other";
  std::optional<std::string> said;
  world.all->begin({"files"}, nullptr,
                   [&](const result<login_invitation>& i) { said = i ? "begun" : i.error().message; });
  REQUIRE(world.loop.until([&] { return said.has_value(); }));
  CHECK(*said == "the login to server \"files\" was ended: the address of the server has changed");
  CHECK(world.tokens().header().empty());
  CHECK(world.status().state == "none");
}

TEST_CASE("logins: a renewal is signed with the key that the entry has by then and says if it cannot be used") {
  login_world world;
  world.as.instead["/.well-known/oauth-authorization-server"] = [&](const std::string&) {
    const auto& base = world.as.base();
    return authorization_server::reply{200, R"({"issuer":")" + base + R"(","authorization_endpoint":")" + base +
                                                R"(/authorize","token_endpoint":")" + base +
                                                R"(/token","code_challenge_methods_supported":["S256"],)" +
                                                R"("token_endpoint_auth_methods_supported":["private_key_jwt"]})"};
  };
  const auto key = std::make_shared<auth::client_key>(auth::client_key{secret(made_key()), "first"});
  auto rotated = world.entry();
  rotated.fingerprint += " rotated";
  rotated.settings = [key, url = world.as.server_url()](const auto& then) {
    then(login_settings{.url = url, .client_id = "corp", .key = *key});
  };
  world.all->set_entries({rotated});
  world.log_in();
  const auto signed_by = [&] {
    const auto fields = auth::read_form(world.as.bodies.back()).value();
    const auto assertion = auth::form_value(fields, "client_assertion");
    return base64url_bytes(assertion.substr(0, assertion.find('.'))).value();
  };
  CHECK(signed_by().find(R"("kid":"first")") != std::string::npos);
  *key = {secret(made_key()), "second"};
  CHECK(world.refuse());
  CHECK(signed_by().find(R"("kid":"second")") != std::string::npos);
  world.pass_renewals();
  *key = {secret("no key"), "third"};
  CHECK_FALSE(world.refuse());
  CHECK(world.status().problem.find("server \"files\": its token cannot be renewed: ") == 0);
  CHECK(world.status().problem.find("auth.privateKey is no private key") != std::string::npos);
  *key = {secret(made_key()), "fourth"};
  CHECK(world.refuse());
  CHECK(world.status().problem.empty());
}

}  // namespace
