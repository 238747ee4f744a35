// Logins of single callers at an entry that is not shared, and callers that wait for a login and leave.
#include "daemon/logins/logins.hpp"
#include "mcp/http/url.hpp"
#include "test/daemon/logins/login_world.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::credentials;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::test;

// An entry that gives each caller its own login. The callers are the person, the port, and the tool server "git".
struct callers_world : login_world {
  std::vector<std::string> of_login;  // principals whose tokens have changed

  callers_world() { all = beside(); }
  std::unique_ptr<logins> beside(bool per_caller = true) {
    auto made = daemon_beside([this](const login_entry& e, bool) { of_login.push_back(e.principal); });
    made->set_entries({own(per_caller)}, {"http", "server:git"});
    return made;
  }
  login_entry own(bool per_caller = true) const {
    auto e = entry();
    e.per_caller = per_caller;
    return e;
  }
  std::shared_ptr<mcp::connect::authorizer> of(const std::string& principal) {
    return all->tokens_at("files", as.server_url(), principal);
  }
  std::string header_of(const std::string& principal) {
    const auto tokens = of(principal);
    bool ready = false;
    tokens->prepare([&] { ready = true; });
    REQUIRE(loop.until([&] { return ready; }));
    return tokens->header();
  }
  login_invitation invited(const std::string& principal, const login_presence& waits = nullptr) {
    std::optional<login_invitation> told;
    all->begin({"files", principal}, waits, [&](result<login_invitation> i) { told = std::move(i).value(); });
    REQUIRE(loop.until([&] { return told.has_value(); }));
    return *told;
  }
  void log_in(const std::string& principal) {
    const auto address = invited(principal).address;
    std::optional<result<void>> over;
    all->when_over({"files", principal}, nullptr, [&](result<void> o) { over = std::move(o); });
    CHECK(all->complete({"files", principal}, authorization_server::redirect_of(address)));
    REQUIRE(loop.until([&] { return over.has_value(); }));
    CHECK(over->has_value());
  }
  // Returns "principal state" of each row.
  std::vector<std::string> rows() {
    std::vector<std::string> all_rows;
    std::optional<login_report> got;
    all->status([&](const login_report& report) { got = report; });
    REQUIRE(loop.until([&] { return got.has_value(); }));
    for (const auto& s : got->servers) all_rows.push_back(s.principal + " " + s.state);
    return all_rows;
  }
  std::string refusal(const login_target& whose) {
    std::string why;
    all->begin(whose, nullptr, [&](const result<login_invitation>& i) { why = i ? "" : i.error().message; });
    return why;
  }
  bool is_open(const login_invitation& of_login_page) {
    const auto port = http::parse_url(of_login_page.redirect_uri).value().port;
    return !mcp::socket::loopback_listener::open(loop.context.get_executor(), loop.real,
                                                 "127.0.0.1:" + std::to_string(port));
  }
};
using rows = std::vector<std::string>;

TEST_CASE("logins of callers: each has tokens of its own, and no caller sends another's") {
  callers_world world;
  world.log_in("");
  CHECK(world.header_of("") == "Bearer token-number-1");
  CHECK(world.header_of("uid:1000") == "Bearer token-number-1");  // the person, and mcpbx's own lists
  for (const auto* other : {"http", "server:git", "server:never-heard-of"}) CHECK(world.header_of(other).empty());
  world.log_in("http");
  CHECK(world.header_of("http") == "Bearer token-number-2");
  CHECK(world.header_of("uid:1000") == "Bearer token-number-1");
  CHECK(world.header_of("server:git").empty());
  CHECK(world.of_login == std::vector<std::string>{"", "http"});
  CHECK(world.rows() == rows{"uid:1000 logged_in", "http logged_in"});

  std::optional<bool> out;
  world.all->log_out({"files", "http"}, [&](const result<void>& o) { out = o.has_value(); });
  REQUIRE(world.loop.until([&] { return out.has_value(); }));
  CHECK(world.header_of("http").empty());
  CHECK(world.header_of("") == "Bearer token-number-1");
  CHECK(world.rows() == rows{"uid:1000 logged_in"});
}

TEST_CASE("logins of callers: a refused caller is told the command that logs it in, and no browser is opened for it") {
  callers_world world;
  auto e = world.entry({.open = {"browser"}});
  e.per_caller = true;
  world.all->set_entries({e}, {"http", "server:git"});
  for (const auto& [principal, command] : {std::pair("http", "run `mcpbx auth login files --for http`"),
                                           std::pair("server:git", "run `mcpbx auth login files --for server:git`")}) {
    std::optional<bool> again;
    const auto tokens = world.of(principal);
    tokens->refused(401, "Bearer", "", [&](bool a) { again = a; });
    REQUIRE(world.loop.until([&] { return again.has_value(); }));
    CHECK_FALSE(*again);
    CHECK(tokens->sentence() == "needs a login: " + std::string(command));
  }
  CHECK(world.programs.empty());
}

TEST_CASE("logins of callers: two at once have an answer each, and neither answer serves the other") {
  callers_world world;
  const auto person = world.invited(""), port = world.invited("http");
  CHECK(person.address != port.address);
  CHECK(person.redirect_uri != port.redirect_uri);
  CHECK_FALSE(world.all->complete({"files", "http"}, authorization_server::redirect_of(person.address)));
  CHECK_FALSE(world.all->complete({"files"}, authorization_server::redirect_of(port.address)));
  CHECK(world.all->complete({"files", "http"}, authorization_server::redirect_of(port.address)));
  CHECK(world.all->complete({"files"}, authorization_server::redirect_of(person.address)));
  REQUIRE(world.loop.until([&] { return world.of_login.size() == 2; }));
  CHECK(world.header_of("") != world.header_of("http"));
  CHECK_FALSE(world.header_of("").empty());
  CHECK_FALSE(world.header_of("http").empty());
}

TEST_CASE("logins of callers: one has another account than the person as soon as either of them has a login") {
  callers_world world;
  const auto same = [&](const std::string& principal) { return world.all->is_same_account("files", principal); };
  CHECK(same("http"));
  CHECK(world.all->is_same_account("none", "http"));
  world.log_in("http");
  CHECK_FALSE(same("http"));
  CHECK(same("server:git"));
  world.log_in("");
  CHECK_FALSE(same("http"));
  CHECK_FALSE(same("server:git"));
  for (const auto* person : {"", "uid:1000"}) CHECK(same(person));
  world.all->set_entries({world.own(false)});
  CHECK(same("http"));
}

TEST_CASE("logins of callers: one that was taken out of the configuration can be logged out, and a stranger cannot") {
  callers_world world;
  world.log_in("server:git");
  const auto log_out = [&](const std::string& principal) {
    std::optional<result<void>> out;
    world.all->log_out({"files", principal}, [&](result<void> o) { out = std::move(o); });
    REQUIRE(world.loop.until([&] { return out.has_value(); }));
    return *out;
  };
  for (const bool restarted : {false, true}) {
    world.all->set_entries({world.own()}, {"http", "server:git"});
    if (world.header_of("server:git").empty()) world.log_in("server:git");
    if (restarted) world.all = world.daemon_beside([](const login_entry&, bool) {});
    world.all->set_entries({world.own()}, {"http"});
    const auto stranger = log_out("server:other");
    REQUIRE_FALSE(stranger);
    CHECK(stranger.error().code == errc::invalid_argument);
    CHECK(world.rows() == rows{"uid:1000 none", "server:git logged_in"});
    CHECK(log_out("server:git"));
    CHECK(world.rows() == rows{"uid:1000 none"});
    CHECK(world.header_of("server:git").empty());
  }
}

TEST_CASE("logins of callers: a program that asks for a login again and again is refused when too many wait") {
  callers_world world;
  const auto waits = std::make_shared<int>();
  const auto first = world.invited("http", waits);
  int invited = 0, refused = 0, ended = 0;
  for (int i = 0; i < 5'000; ++i) {
    world.all->begin({"files", "http"}, waits, [&](const result<login_invitation>& told) {
      if (told && told->address == first.address) ++invited;
    });
    world.all->when_over({"files", "http"}, waits, [&](const result<void>& over) {
      if (over) ++ended;
      if (!over && over.error().code == errc::limit) ++refused;
    });
  }
  CHECK(invited + refused > 0);
  CHECK(invited < 5'000);
  CHECK(refused > 0);
  CHECK(world.all->complete({"files", "http"}, authorization_server::redirect_of(first.address)));
  REQUIRE(world.loop.until([&] { return ended > 0; }));
  CHECK(ended + refused == 5'000);
}

TEST_CASE("logins of callers: each renews its own token, and all are there after a restart") {
  callers_world world;
  world.log_in("");
  world.log_in("http");
  world.clock.advance(std::chrono::hours(1));
  world.as.bodies.clear();
  CHECK(world.header_of("http") == "Bearer token-number-3");
  CHECK(world.header_of("") == "Bearer token-number-4");
  REQUIRE(world.as.bodies.size() == 2);
  CHECK(world.as.bodies[0].find("refresh-number-2") != std::string::npos);
  CHECK(world.as.bodies[1].find("refresh-number-1") != std::string::npos);
  // A daemon that knows of nobody but the file tells all of them, and each caller gets its own.
  world.all = world.beside();
  CHECK(world.rows() == rows{"uid:1000 logged_in", "http logged_in"});
  CHECK(world.header_of("http") == "Bearer token-number-3");
  CHECK(world.header_of("uid:1000") == "Bearer token-number-4");
  CHECK(world.header_of("server:git").empty());
}

TEST_CASE("logins of callers: the tokens of an entry that was shared are the person's, before and after") {
  callers_world world;
  world.all = world.beside(false);
  world.log_in("");
  CHECK(world.header_of("http") == "Bearer token-number-1");  // all share it
  CHECK(world.rows() == rows{" logged_in"});
  world.all->set_entries({world.own()}, {"http"});
  CHECK(world.header_of("uid:1000") == "Bearer token-number-1");
  CHECK(world.header_of("http").empty());
  world.log_in("http");
  world.all->set_entries({world.own(false)}, {"http"});
  CHECK(world.header_of("http") == "Bearer token-number-1");
  CHECK(world.header_of("") == "Bearer token-number-1");
}

TEST_CASE("logins of callers: a name in the file counts for nothing without the principal in its text") {
  callers_world world;
  world.log_in("");
  credential_file file(world.dir / "credentials.json",
                       [] { return credential_key{key_place::systemd, std::string(32, 'k')}; });
  const auto text = file.find(world.name_in_file());
  REQUIRE(text);
  REQUIRE(*text);
  REQUIRE(file.write(credential_file::entry_name("files", world.as.server_url(), "http"), **text));
  world.all = world.beside();
  CHECK(world.header_of("http").empty());
  CHECK(world.rows() == rows{"uid:1000 logged_in"});
}

TEST_CASE("logins of callers: the client of an entry stays at the authorization server that one of them used it at") {
  for (const bool restarted : {false, true}) {
    callers_world world;
    auto e = world.entry({.url = world.as.server_url(), .client_id = "corp"});
    e.fingerprint += " client";
    e.per_caller = true;
    world.all->set_entries({e}, {"http"});
    world.log_in("");
    if (restarted) {
      world.all = world.beside();
      world.all->set_entries({e}, {"http"});
    }
    world.as.instead["/.well-known/oauth-protected-resource/mcp"] = [&](const std::string&) {
      return authorization_server::reply{200, R"({"resource":")" + world.as.server_url() +
                                                  R"(","authorization_servers":[")" + world.as.base() + R"(/other"]})"};
    };
    world.as.instead["/.well-known/oauth-authorization-server/other"] = [&](const std::string&) {
      const auto& base = world.as.base();
      return authorization_server::reply{200, R"({"issuer":")" + base + R"(/other","authorization_endpoint":")" + base +
                                                  R"(/authorize","token_endpoint":")" + base +
                                                  R"(/token","code_challenge_methods_supported":["S256"]})"};
    };
    std::string why;
    world.all->begin({"files", "http"}, nullptr,
                     [&](const result<login_invitation>& i) { why = i ? "begun" : i.error().message; });
    REQUIRE(world.loop.until([&] { return !why.empty(); }));
    CHECK(why.find("than the one that auth.clientId was used at before") != std::string::npos);
  }
  SUBCASE("and while the tokens that tell it cannot be read, none is begun") {
    callers_world world;
    auto e = world.entry({.url = world.as.server_url(), .client_id = "corp"});
    e.fingerprint += " client";
    e.per_caller = true;
    world.all->set_entries({e}, {"http"});
    world.log_in("");
    world.locked = true;
    world.all = world.beside();
    world.all->set_entries({e}, {"http"});
    std::string why;
    world.all->begin({"files", "http"}, nullptr,
                     [&](const result<login_invitation>& i) { why = i ? "begun" : i.error().message; });
    REQUIRE(world.loop.until([&] { return !why.empty(); }));
    CHECK(why.find("no login is begun with the client of its entry") != std::string::npos);
  }
}

TEST_CASE("logins of callers: a caller that there is not, and a shared entry, are told with a way on") {
  callers_world world;
  CHECK(world.refusal({"files", "htpp"}) ==
        "there is no caller \"htpp\" that could log in to server \"files\"; those beside you are: http, server:git");
  CHECK(world.refusal({"files", "server:none"}).find("no caller") != std::string::npos);
  world.all->set_entries({world.own(false)}, {"http"});
  CHECK(
      world.refusal({"files", "http"}) ==
      "server \"files\" has one login for all its callers; \"sharing\": \"perCaller\" in its entry gives each its own");
}

TEST_CASE("logins of callers: those of an entry that goes or changes end with it") {
  callers_world world;
  world.log_in("http");
  const auto tokens = world.of("http");
  std::string why;
  world.invited("http");
  world.all->when_over({"files", "http"}, nullptr, [&](const result<void>& o) { why = o ? "" : o.error().message; });
  world.all->set_entries({}, {});
  CHECK(why == "the login to server \"files\" was ended: its entry has changed");
  std::optional<bool> again;
  tokens->refused(401, "Bearer", tokens->header(), [&](bool a) { again = a; });
  CHECK(again == std::optional(false));
}

TEST_CASE("logins: one that people wait for ends when the last of them has left, and its port is closed at once") {
  callers_world world;
  auto first = std::make_shared<int>(0), second = std::make_shared<int>(0);
  const auto page = world.invited("", first);
  std::vector<std::string> said;
  const auto say = [&](const result<void>& o) { said.push_back(o ? "" : o.error().message); };
  world.all->when_over({"files"}, first, say);
  world.all->when_over({"files"}, second, say);
  // A request that meets the server meanwhile keeps no login alive that people have begun.
  std::optional<bool> again;
  world.of("")->refused(401, "Bearer", "", [&](bool a) { again = a; });
  first.reset();
  world.all->left({"files"});
  CHECK(said.empty());
  CHECK(world.is_open(page));
  second.reset();
  world.all->left({"files"});
  CHECK(said == std::vector<std::string>(2, "the login to server \"files\" was ended: nobody waits for it any more"));
  CHECK(again == std::optional(false));
  CHECK_FALSE(world.is_open(page));
  // The next one begins anew.
  world.log_in("");
  CHECK(world.header_of("") == "Bearer token-number-1");
}

TEST_CASE("logins: one whose caller leaves before it has begun opens no port") {
  callers_world world;
  auto waits = std::make_shared<int>(0);
  std::string why;
  world.all->begin({"files"}, waits, [&](const result<login_invitation>& i) { why = i ? "" : i.error().message; });
  waits.reset();
  world.all->left({"files"});
  REQUIRE(world.loop.until([&] { return !why.empty(); }));
  CHECK(why == "the login to server \"files\" was ended: nobody waits for it any more");
  CHECK(world.as.asked.empty());
}

TEST_CASE("logins: one that the daemon began goes on when a person who joined it leaves") {
  callers_world world;
  world.all->set_entries({world.entry({.open = {"browser"}})});
  std::optional<bool> again;
  world.of("")->refused(401, "Bearer", "", [&](bool a) { again = a; });
  REQUIRE(world.loop.until([&] { return !world.programs.empty(); }));
  auto waits = std::make_shared<int>(0);
  const auto page = world.invited("", waits);
  waits.reset();
  world.all->left({"files"});
  CHECK(world.is_open(page));
  CHECK(world.all->complete({"files"}, authorization_server::redirect_of(page.address)));
  REQUIRE(world.loop.until([&] { return again.has_value(); }));
  CHECK(*again);
}

TEST_CASE("logins: one can be cancelled at each step, and nothing is cancelled twice") {
  for (const bool invited_first : {true, false}) {
    callers_world world;
    std::string why;
    if (invited_first) {
      const auto page = world.invited("");
      world.all->when_over({"files"}, nullptr, [&](const result<void>& o) { why = o ? "" : o.error().message; });
      CHECK(world.all->cancel({"files"}));
      CHECK_FALSE(world.is_open(page));
    } else {
      bool loaded = false;  // the tokens on disk are known, so that a login is prepared at once
      world.all->status([&](const login_report&) { loaded = true; });
      REQUIRE(world.loop.until([&] { return loaded; }));
      world.all->begin({"files"}, nullptr,
                       [&](const result<login_invitation>& i) { why = i ? "" : i.error().message; });
      CHECK(world.all->cancel({"files"}));
    }
    CHECK(why == "the login to server \"files\" was ended: somebody has cancelled it");
    const auto nothing = world.all->cancel({"files"});
    REQUIRE_FALSE(nothing);
    CHECK(nothing.error().message == "no login to server \"files\" is under way");
    CHECK_FALSE(world.all->cancel({"fills"}));
  }
}

}  // namespace
