// Logins with a real port and a real file, an authorization server in the same loop, and the test as the browser.
#include "daemon/logins/logins.hpp"

#include "mcp/http/url.hpp"
#include "mcp/json/raw_json.hpp"
#include "test/daemon/logins/login_world.hpp"

#include <boost/asio/ip/address.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::credentials;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::json;
using namespace mcpbx::test;

TEST_CASE("logins: a person with a browser gets a server its tokens, which are sent and kept") {
  login_world world;
  CHECK(world.prepared().empty());
  CHECK(world.status().state == "none");
  world.log_in();
  CHECK(world.tokens().header() == "Bearer token-number-1");
  CHECK(world.changed == std::vector<std::string>{"files"});
  const auto now = world.status();
  CHECK(now.state == "logged_in");
  CHECK(now.issuer == world.as.base());
  CHECK(now.renews);
  // The next daemon reads them from the file, which shows none of them.
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared() == "Bearer token-number-1");
  std::ifstream in(world.dir / "credentials.json");
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}).find("number-1") == std::string::npos);
}

TEST_CASE("logins: tokens of one address are not sent to another one, whatever its entry is called") {
  login_world world;
  world.log_in();
  world.all->set_entries({world.entry({.url = world.as.server_url() + "/elsewhere"})});
  CHECK(world.prepared().empty());
}

TEST_CASE("logins: of two entries at one address each keeps its own tokens when the configuration changes") {
  login_world world;
  auto second = world.entry();
  second.server = "mails";
  world.all->set_entries({world.entry(), second});
  world.log_in();
  world.all->set_entries({second, world.entry()});
  CHECK(world.tokens().header() == "Bearer token-number-1");
  CHECK(world.all->tokens_of("mails")->header().empty());
  world.all->set_entries({second});
  CHECK_FALSE(world.all->tokens_of("files"));
  REQUIRE(world.all->tokens_of("mails"));
  CHECK(world.all->tokens_of("mails")->header().empty());
}

TEST_CASE("logins: what a person pastes is as good as the browser") {
  login_world world;
  std::optional<login_invitation> told;
  world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i).value(); });
  REQUIRE(world.loop.until([&] { return told.has_value(); }));
  CHECK(told->issuer == world.as.base());
  CHECK(told->resource == world.as.server_url());
  CHECK_FALSE(world.all->complete({"files"}, "http://127.0.0.1/?code=x&state=wrong"));
  CHECK(world.all->complete({"files"}, authorization_server::redirect_of(told->address)));
  REQUIRE(world.loop.until([&] { return !world.tokens().header().empty(); }));
  CHECK_FALSE(world.all->complete({"files"}, "again"));
}

TEST_CASE("logins: a late question about the end of a login is answered once its tokens are written and in use") {
  login_world world;
  std::optional<login_invitation> told;
  world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i).value(); });
  REQUIRE(world.loop.until([&] { return told.has_value(); }));
  auto held = daemon::guard::state_lock::take(world.dir / "credentials.json");
  REQUIRE(held);
  CHECK(world.all->complete({"files"}, authorization_server::redirect_of(told->address)));
  REQUIRE(world.loop.until([&] { return !world.tokens().header().empty(); }));
  bool over = false;
  world.all->when_over({"files"}, nullptr, [&](const result<void>& o) { over = o.has_value(); });
  for (int i = 0; i < 5; ++i) world.loop.context.poll();
  CHECK_FALSE(over);
  held = fail(errc::io, "given back");
  REQUIRE(world.loop.until([&] { return over; }));
  CHECK(world.changed.size() == 1);
}

TEST_CASE("logins: two people who log in at once see the same login") {
  login_world world;
  std::vector<login_invitation> told;
  for (int i = 0; i < 2; ++i)
    world.all->begin({"files"}, nullptr, [&](result<login_invitation> t) { told.push_back(std::move(t).value()); });
  REQUIRE(world.loop.until([&] { return told.size() == 2; }));
  CHECK(told[0].address == told[1].address);
  CHECK(world.as.registrations == 1);
}

TEST_CASE("logins: a hundred requests with a token that has ended wait for one renewal") {
  login_world world;
  world.as.instead["/token"] = [&](const std::string&) {
    ++world.as.tokens;
    return authorization_server::reply{200, R"({"access_token":"short-lived-)" + std::to_string(world.as.tokens) +
                                                R"(","refresh_token":"r","expires_in":)" +
                                                (world.as.tokens == 1 ? "1}" : "3600}")};
  };
  world.log_in();
  int ready = 0;
  for (int i = 0; i < 100; ++i) world.tokens().prepare([&] { ++ready; });
  REQUIRE(world.loop.until([&] { return ready == 100; }));
  CHECK(world.tokens().header() == "Bearer short-lived-2");
  CHECK(world.as.tokens == 2);
}

TEST_CASE("logins: a refused token is renewed once for all, and those who come late send the new one") {
  login_world world;
  world.log_in();
  const std::string old = world.tokens().header();
  int again = 0;
  for (int i = 0; i < 100; ++i) world.tokens().refused(401, "Bearer", old, [&](bool a) { again += a ? 1 : 0; });
  REQUIRE(world.loop.until([&] { return again == 100; }));
  CHECK(world.as.renewals == 1);
  bool late = false;
  world.tokens().refused(401, "Bearer", old, [&](bool a) { late = a; });
  REQUIRE(world.loop.until([&] { return late; }));
  CHECK(world.as.renewals == 1);
}

TEST_CASE("logins: of two daemons that renew, the second takes the tokens of the first") {
  login_world world;
  world.log_in();
  auto other = world.daemon_beside();
  other->set_entries({world.entry()});
  bool ready = false;
  other->tokens_of("files")->prepare([&] { ready = true; });
  REQUIRE(world.loop.until([&] { return ready; }));
  CHECK(world.refuse());
  std::optional<bool> again;
  const auto tokens = other->tokens_of("files");
  tokens->refused(401, "Bearer", tokens->header(), [&](bool a) { again = a; });
  REQUIRE(world.loop.until([&] { return again.has_value(); }));
  CHECK(*again);
  CHECK(tokens->header() == world.tokens().header());
  CHECK(world.as.renewals == 1);
}

TEST_CASE("logins: a refresh token that is refused needs a person, and one that cannot be asked waits") {
  login_world world;
  world.log_in();
  world.as.instead["/token"] = [](const std::string&) { return authorization_server::reply{503, ""}; };
  CHECK_FALSE(world.refuse());
  CHECK(world.status().renews);
  world.as.instead["/token"] = [](const std::string&) {
    return authorization_server::reply{400, R"({"error":"invalid_grant"})"};
  };
  CHECK_FALSE(world.refuse());
  CHECK(world.tokens().sentence() == "needs a login: run `mcpbx auth login files`");
  CHECK(world.status().problem.find("invalid_grant") != std::string::npos);
  CHECK(world.tokens().header().empty());
  world.as.instead.clear();
  world.log_in();
  CHECK(world.tokens().sentence().empty());
}

TEST_CASE("logins: with auth.open a refusal opens the browser and the request waits for the answer") {
  login_world world;
  world.all->set_entries({world.entry({.open = {"xdg-open", "--new"}})});
  std::optional<bool> again;
  int others = 0;
  world.tokens().refused(401, "Bearer", "", [&](bool a) { again = a; });
  for (int i = 0; i < 10; ++i) world.tokens().refused(401, "Bearer", "", [&](bool a) { others += a ? 1 : 100; });
  REQUIRE(world.loop.until([&] { return !world.programs.empty(); }));
  CHECK_FALSE(again.has_value());
  // Neither those who come together nor those who come later open the browser once more.
  for (int i = 0; i < 10; ++i) world.tokens().refused(401, "Bearer", "", [&](bool a) { others += a ? 1 : 100; });
  world.loop.context.poll();
  CHECK(world.programs.size() == 1);
  REQUIRE(world.programs[0].size() == 3);
  // Others see the command line, and the address in it leads to the login once.
  const std::string opened = world.programs[0][2];
  CHECK(opened.find("state=") == std::string::npos);
  const std::string address = world.led(opened);
  CHECK(address.starts_with(world.as.base() + "/authorize?"));
  const auto late = get(world.loop, opened);
  CHECK(late.status == 410);
  CHECK(http::find_header(late.headers, "Location").empty());
  CHECK(get(world.loop, authorization_server::redirect_of(address)).status == 200);
  REQUIRE(world.loop.until([&] { return again.has_value(); }));
  CHECK(*again);
  CHECK(others == 20);
  CHECK(world.programs.size() == 1);
  CHECK(world.tokens().header() == "Bearer token-number-1");
}

TEST_CASE("logins: with auth.open the browser is not opened again after nobody has answered, until somebody logs in") {
  login_world world;
  world.all->set_entries({world.entry({.open = {"xdg-open"}})});
  std::optional<bool> again;
  world.tokens().refused(401, "Bearer", "", [&](bool a) { again = a; });
  REQUIRE(world.loop.until([&] { return world.programs.size() == 1; }));
  world.clock.advance(std::chrono::minutes(11));
  REQUIRE(world.loop.until([&] { return again.has_value(); }));
  CHECK_FALSE(*again);
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(world.refuse());
    world.clock.advance(std::chrono::minutes(2));
  }
  CHECK(world.programs.size() == 1);
  CHECK(world.tokens().sentence() == "needs a login: run `mcpbx auth login files`");
  world.log_in();
  world.as.instead["/token"] = [](const std::string&) {
    return authorization_server::reply{400, R"({"error":"invalid_grant"})"};
  };
  world.pass_renewals();
  world.tokens().refused(401, "Bearer", world.tokens().header(), [](bool) {});
  CHECK(world.loop.until([&] { return world.programs.size() == 2; }));
}

TEST_CASE("G44: logins: the address of a login is one argument of the browser's command, whatever a server has in it") {
  login_world world;
  world.all->set_entries({world.entry({.open = {"browser", "--new"}})});
  const auto offer = [&](const std::string& endpoint) {
    world.as.instead["/.well-known/oauth-authorization-server"] = [&, endpoint](const std::string&) {
      return authorization_server::reply{200, R"({"issuer":")" + world.as.base() + R"(","authorization_endpoint":)" +
                                                  json_quoted(endpoint) + R"(,"token_endpoint":")" + world.as.base() +
                                                  R"(/token","registration_endpoint":")" + world.as.base() +
                                                  R"(/register","code_challenge_methods_supported":["S256"]})"};
    };
  };
  offer(world.as.base() + "/authorize;$(touch${IFS}x)&|`x`?a=$HOME");
  std::optional<bool> again;
  world.tokens().refused(401, "Bearer", "", [&](bool a) { again = a; });
  REQUIRE(world.loop.until([&] { return again || !world.programs.empty(); }));
  REQUIRE(world.programs.size() == 1);
  REQUIRE(world.programs[0].size() == 3);
  CHECK(world.programs[0][1] == "--new");
  // Nothing of the server's is on the command line; the browser is led to its address as it is.
  CHECK(world.programs[0][2].starts_with("http://127.0.0.1:"));
  CHECK(world.programs[0][2].find_first_of("$;&|`") == std::string::npos);
  CHECK(world.led(world.programs[0][2])
            .starts_with(world.as.base() + "/authorize;$(touch${IFS}x)&|`x`?a=$HOME&response_type="));
  world.all->log_out({"files"}, [](const result<void>&) {});
  REQUIRE(world.loop.until([&] { return again.has_value(); }));
  // An address begins with http or https, or it is none.
  for (const char* const other : {"--help", "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "x y"}) {
    offer(other);
    std::optional<result<login_invitation>> told;
    world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i); });
    REQUIRE(world.loop.until([&] { return told.has_value(); }));
    REQUIRE_FALSE(*told);
    CHECK_MESSAGE(told->error().message.contains("authorization endpoint"), told->error().message);
    CHECK(world.programs.size() == 1);
  }
}

TEST_CASE("logins: a server that refuses every new token is asked three times, then a person has to") {
  login_world world;
  world.all->set_entries({world.entry({.open = {"browser"}})});
  int logins_done = 0;
  bool last = true;
  for (int i = 0; i < 5 && last; ++i) {
    std::optional<bool> again;
    const auto before = world.programs.size();
    world.tokens().refused(403, R"(Bearer error="insufficient_scope", scope="more")", world.tokens().header(),
                           [&](bool a) { again = a; });
    REQUIRE(world.loop.until([&] { return again.has_value() || world.programs.size() > before; }));
    if (!again) {
      ++logins_done;
      get(world.loop, authorization_server::redirect_of(world.led(world.programs.back().back())));
      REQUIRE(world.loop.until([&] { return again.has_value(); }));
    }
    last = *again;
  }
  CHECK(logins_done == 3);
  CHECK(world.tokens().sentence().find("with more rights") != std::string::npos);
}

TEST_CASE("logins: a 403 without a word about scopes is no reason for a login") {
  login_world world;
  world.log_in();
  CHECK_FALSE(world.refuse(403, "Bearer error=\"access_denied\""));
  CHECK(world.tokens().header() == "Bearer token-number-1");
}

TEST_CASE("logins: logging out forgets the tokens here and on disk, and ends a login under way") {
  login_world world;
  world.log_in();
  std::optional<result<void>> out;
  world.all->log_out({"files"}, [&](result<void> o) { out = std::move(o); });
  REQUIRE(world.loop.until([&] { return out.has_value(); }));
  CHECK(world.tokens().header().empty());
  CHECK(world.changed.size() == 2);
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  CHECK(world.prepared().empty());
  std::optional<result<login_invitation>> told;
  std::optional<result<void>> over;
  world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i); });
  REQUIRE(world.loop.until([&] { return told.has_value(); }));
  world.all->when_over({"files"}, nullptr, [&](result<void> o) { over = std::move(o); });
  world.all->log_out({"files"}, [](const result<void>&) {});
  REQUIRE(world.loop.until([&] { return over.has_value(); }));
  CHECK(over->error().code == errc::cancelled);
}

TEST_CASE("logins: a renewal that is under way brings no tokens back after a logout") {
  for (const bool asked : {false, true}) {
    login_world world;
    world.log_in();
    std::optional<bool> again;
    world.tokens().refused(401, "Bearer", world.tokens().header(), [&](bool a) { again = a; });
    if (asked) REQUIRE(world.loop.until([&] { return world.as.renewals == 1; }));
    std::optional<result<void>> out;
    world.all->log_out({"files"}, [&](result<void> o) { out = std::move(o); });
    REQUIRE(world.loop.until([&] { return out.has_value() && again.has_value(); }));
    CHECK_FALSE(*again);
    for (int i = 0; i < 20; ++i) {
      world.loop.context.restart();
      world.loop.context.run_one_for(std::chrono::milliseconds(5));
    }
    CHECK(world.tokens().header().empty());
    CHECK(world.status().state == "none");
    world.all = world.daemon_beside();
    world.all->set_entries({world.entry()});
    CHECK(world.prepared().empty());
  }
}

TEST_CASE("logins: tokens that are being read from the file do not come back after a logout") {
  login_world world;
  world.log_in();
  world.all = world.daemon_beside();
  world.all->set_entries({world.entry()});
  int done = 0;
  world.tokens().prepare([&] { ++done; });
  world.all->log_out({"files"}, [&](const result<void>&) { ++done; });
  REQUIRE(world.loop.until([&] { return done == 2; }));
  CHECK(world.tokens().header().empty());
}

TEST_CASE("logins: a login that is being prepared ends with a logout and the next one begins anew") {
  for (const bool loaded : {false, true}) {
    login_world world;
    std::vector<std::function<void(result<login_settings>)>> asked;
    auto e = world.entry();
    bool answers = loaded;
    e.fingerprint = "slow";
    e.settings = [&, good = e.settings](const auto& then) { answers ? good(then) : asked.push_back(then); };
    world.all->set_entries({e});
    if (loaded) CHECK(world.prepared().empty());
    answers = false;
    std::optional<result<login_invitation>> told;
    world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i); });
    REQUIRE(world.loop.until([&] { return asked.size() == 1; }));
    world.all->log_out({"files"}, [](const result<void>&) {});
    answers = true;
    e.settings([&](result<login_settings> s) { asked.at(0)(std::move(s)); });
    REQUIRE(world.loop.until([&] { return told.has_value(); }));
    REQUIRE_FALSE(told->has_value());
    CHECK(told->error().message.find("somebody has logged out") != std::string::npos);
    CHECK(world.status().state == "none");
    world.log_in();
    CHECK(world.prepared() == "Bearer token-number-1");
  }
}

TEST_CASE("logins: the lock of a renewal keeps nobody waiting but the renewals of its server") {
  login_world world;
  world.log_in();
  std::optional<bool> again;
  {
    credential_file other(world.dir / "credentials.json", [] { return credential_key{}; });
    const auto held = other.lock_renewal(world.name_in_file());
    REQUIRE(held);
    world.tokens().refused(401, "Bearer", world.tokens().header(), [&](bool a) { again = a; });
    const auto since = std::chrono::steady_clock::now();
    CHECK(world.status().state == "logged_in");
    CHECK(std::chrono::steady_clock::now() - since < std::chrono::seconds(3));
    CHECK_FALSE(again);
    CHECK(world.as.renewals == 0);
  }
  REQUIRE(world.loop.until([&] { return again.has_value(); }));
  CHECK(*again);
  CHECK(world.as.renewals == 1);
}

TEST_CASE("logins: everybody who waits for an entry that goes away is told") {
  login_world world;
  world.all->set_entries({world.entry({.open = {"browser"}})});
  std::vector<std::string> said;
  std::optional<bool> again;
  const auto tokens = world.all->tokens_of("files");
  tokens->refused(401, "Bearer", "", [&](bool a) { again = a; });
  REQUIRE(world.loop.until([&] { return !world.programs.empty(); }));
  world.all->when_over({"files"}, nullptr, [&](const result<void>& o) { said.push_back(o ? "" : o.error().message); });
  world.all->set_entries({});
  REQUIRE(again);
  CHECK_FALSE(*again);
  CHECK(said == std::vector<std::string>{"the login to server \"files\" was ended: its entry has changed"});
  // Neither does anybody wait for ever who comes later, or while the tokens are read.
  world.all->set_entries({world.entry()});
  bool told = false, reported = false;
  world.all->begin({"files"}, nullptr, [&](const result<login_invitation>& i) { told = !i; });
  world.all->status([&](const login_report&) { reported = true; });
  world.all->set_entries({});
  REQUIRE(world.loop.until([&] { return told && reported; }));
  again.reset();
  tokens->refused(401, "Bearer", "", [&](bool a) { again = a; });
  CHECK(again.has_value());
}

TEST_CASE("logins: the port of a login is closed when that has ended without the browser") {
  login_world world;
  std::optional<login_invitation> told;
  world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) { told = std::move(i).value(); });
  REQUIRE(world.loop.until([&] { return told.has_value(); }));
  const auto port = http::parse_url(told->redirect_uri).value().port;
  const auto open = [&] {
    return mcp::socket::loopback_listener::open(world.loop.context.get_executor(), world.loop.real,
                                                "127.0.0.1:" + std::to_string(port))
        .has_value();
  };
  CHECK_FALSE(open());
  world.all->log_out({"files"}, [](const result<void>&) {});
  CHECK(open());
}

TEST_CASE("logins: a login that fails says why to everybody who waits for it") {
  login_world world;
  world.as.instead["/register"] = [](const std::string&) {
    return authorization_server::reply{400, R"({"error":"invalid_client_metadata"})"};
  };
  std::vector<std::string> said;
  for (int i = 0; i < 2; ++i)
    world.all->begin({"files"}, nullptr, [&](const result<login_invitation>& t) { said.push_back(t.error().message); });
  REQUIRE(world.loop.until([&] { return said.size() == 2; }));
  CHECK(said[0].find("invalid_client_metadata") != std::string::npos);
  CHECK(said[0] == said[1]);
  CHECK(world.status().problem == said[0]);
}

TEST_CASE("logins: everything may be dropped at each step of a login") {
  for (int step = 0; step < 12; ++step) {
    login_world world;
    int seen = 0;
    std::optional<login_invitation> told;
    world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) {
      if (i) told = *std::move(i);
    });
    for (int turn = 0; turn < 400 && seen < step; ++turn) {
      world.loop.context.restart();
      seen += static_cast<int>(world.loop.context.run_one_for(std::chrono::milliseconds(5)));
      if (told && step > 8) {
        recorder ignored;
        http::clients::request r;
        r.method = "GET";
        r.url = authorization_server::redirect_of(told->address);
        const auto exchange = world.loop.client->start(std::move(r), ignored);
        world.loop.context.restart();
        world.loop.context.run_one_for(std::chrono::milliseconds(5));
      }
    }
    if (step % 2 == 0) world.all->set_entries({});
    world.all.reset();
    world.loop.context.restart();
    world.loop.context.poll();
  }
}

TEST_CASE("logins: settings that cannot be resolved fail the login with their reason, and are tried again") {
  login_world world;
  auto e = world.entry();
  bool there = false;
  e.fingerprint = "other";
  e.settings = [&, good = e.settings](const auto& then) {
    if (there) return good(then);
    then(fail(errc::config, "mcpServers.files.auth.clientSecret: the file is not there"));
  };
  world.all->set_entries({e});
  CHECK(world.prepared().empty());
  std::string said;
  world.all->begin({"files"}, nullptr, [&](const result<login_invitation>& i) { said = i ? "" : i.error().message; });
  REQUIRE(world.loop.until([&] { return !said.empty(); }));
  CHECK(said.find("the file is not there") != std::string::npos);
  there = true;
  world.log_in();
  CHECK(world.prepared() == "Bearer token-number-1");
}

TEST_CASE("G44: a request of a login goes to no private address that a public name has") {
  http::clients::client::options o;
  o.look_up = [](const std::string&) { return http::clients::addresses{boost::asio::ip::make_address("10.0.0.1")}; };
  http_loop loop(nullptr, std::move(o));
  std::optional<result<auth::flow::document_answer>> got;
  const document_exchange sent(*loop.client, {.url = "https://auth.example.com/token"}, {},
                               auth::endpoint_rule::of("https://mcp.example.com/mcp", false),
                               [&](result<auth::flow::document_answer> a) { got = std::move(a); });
  REQUIRE(loop.until([&] { return got.has_value(); }));
  REQUIRE_FALSE(got->has_value());
  CHECK(got->error().message.starts_with(
      "auth.example.com was not asked: it has the address 10.0.0.1 of a private network; if that is right, set"));
}

TEST_CASE("logins: none is begun for an entry whose own Authorization header would be sent all the same") {
  login_world world;
  auto entry = world.entry();
  entry.own_authorization = true;
  entry.fingerprint += " own";
  world.all->set_entries({std::move(entry)});
  std::string said;
  world.all->begin({"files"}, nullptr, [&](const result<login_invitation>& i) { said = i.error().message; });
  CHECK(said.contains("take it out of \"headers\" first"));
  CHECK(world.as.registrations == 0);
}

TEST_CASE("logins: an unknown server is refused with the nearest name, and nothing is under way unasked") {
  login_world world;
  std::string said;
  world.all->begin({"file"}, nullptr, [&](const result<login_invitation>& i) { said = i.error().message; });
  CHECK(said.find("did you mean \"files\"") != std::string::npos);
  std::optional<result<void>> over;
  world.all->when_over({"files"}, nullptr, [&](result<void> o) { over = std::move(o); });
  REQUIRE(over);
  CHECK(over->error().code == errc::invalid_argument);
}

}  // namespace
