// Tokens on disk that cannot be read now, that another daemon has changed, or that could not be written.
#include "test/daemon/logins/login_world.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon;
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
  world.all->begin("files", [&](const result<login_invitation>& i) { said = i ? i->issuer : i.error().message; });
  REQUIRE(world.loop.until([&] { return said.has_value(); }));
  world.all->log_out("files", [](const result<void>&) {});
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
    world.all->begin("files", [&](const result<login_invitation>& i) { said = i ? "begun" : i.error().message; });
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
  other->log_out("files", [&](result<void> o) { out = std::move(o); });
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
  other->log_out("files", [&](result<void> o) { out = std::move(o); });
  REQUIRE(world.loop.until([&] { return out.has_value(); }));
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared() == "Bearer token-number-1");
}

}  // namespace
