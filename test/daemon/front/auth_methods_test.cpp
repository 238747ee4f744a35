// mcpbx/auth/* at the door: params, results, errors, and who may ask.
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::test;

namespace {

struct fake_desk final : login_desk {
  static std::string name(const login_target& whose) {
    return whose.server + (whose.principal.empty() ? "" : " for " + whose.principal);
  }
  void begin(const login_target& whose, const login_presence& waits,
             std::function<void(result<login_invitation>)> then) override {
    asked.push_back("begin " + name(whose));
    present.push_back(waits);
    if (!slow) return then(invitation);
    beginning = std::move(then);
  }
  void when_over(const login_target& whose, const login_presence& waits,
                 std::function<void(result<void>)> then) override {
    asked.push_back("wait " + name(whose));
    present.push_back(waits);
    waiting = std::move(then);
  }
  void left(const login_target& whose) override {
    asked.push_back("left " + name(whose) + (waited_for() ? ", not the last" : ""));
    if (const auto then = std::exchange(on_left, nullptr)) then();
  }
  result<void> cancel(const login_target& whose) override {
    asked.push_back("cancel " + name(whose));
    return {};
  }
  result<void> complete(const login_target& whose, std::string_view pasted) override {
    asked.push_back("complete " + name(whose) + " " + std::string(pasted));
    return fail(errc::invalid_argument, "that is not the answer");
  }
  void log_out(const login_target& whose, std::function<void(result<void>)> then) override {
    asked.push_back("logout " + name(whose));
    then({});
  }
  bool waited_for() const {
    return std::ranges::any_of(present, [](const auto& one) { return !one.expired(); });
  }
  void status(std::function<void(login_report)> then) override { then(report); }

  std::vector<std::string> asked;
  std::vector<std::weak_ptr<void>> present;
  std::function<void()> on_left;
  bool slow = false;  // a login begins later, by `beginning`
  std::function<void(result<login_invitation>)> beginning;
  result<login_invitation> invitation = login_invitation{
      "https://as/a", "http://127.0.0.1:1/c", "https://as", "https://r", {"x"}, "http://127.0.0.1:1/open/o"};
  std::function<void(result<void>)> waiting;
  login_report report;
};

struct auth_door {
  // `server`: the name of the tool server that the caller is; "": a person's program.
  explicit auth_door(const std::string& server = {})
      : door(io.get_executor(), time, backend, {},
             [server](const mcp::socket::peer_credentials&) { return result<std::string>(server); }) {
    backend.desk_of_logins = &desk;
    door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    run();
  }
  ~auth_door() {
    door.close();
    run();
  }
  void run() {
    io.restart();
    io.poll();
  }
  std::string ask(const std::string& method, const std::string& params) {
    const std::size_t before = line.sent.size();
    line.say(R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/auth/)" + method + R"(","params":)" + params + "}");
    run();
    return line.sent.size() == before ? "" : line.sent.back();
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  fake_desk desk;
  fake_transport::line line;
  front_door door;
};

TEST_CASE("auth methods: a login tells the address and what is asked for, and its end is waited for") {
  auth_door d;
  CHECK(contains(d.ask("login", R"({"server":"saas"})"),
                 R"("result":{"address":"https://as/a","redirectUri":"http://127.0.0.1:1/c",)"
                 R"("openAddress":"http://127.0.0.1:1/open/o","issuer":"https://as",)"
                 R"("resource":"https://r","scopes":["x"]})"));
  CHECK(d.ask("wait", R"({"server":"saas"})").empty());
  d.desk.waiting(fail(errc::peer, "access_denied"));
  d.run();
  CHECK(contains(d.line.sent.back(), "access_denied"));
  CHECK(contains(d.ask("logout", R"({"server":"saas"})"), R"("result":{})"));
  CHECK(d.desk.asked == std::vector<std::string>{"begin saas", "wait saas", "logout saas"});
}

TEST_CASE("auth methods: a login may be another caller's and can be cancelled") {
  auth_door d;
  for (const auto* method : {"login", "cancel", "logout"})
    CHECK(contains(d.ask(method, R"({"server":"saas","principal":"http"})"), R"("result":{)"));
  CHECK(d.desk.asked ==
        std::vector<std::string>{"begin saas for http", "cancel saas for http", "logout saas for http"});
}

TEST_CASE("auth methods: a connection that is closed while it gives up an old login for a new one waits for none") {
  auth_door d;
  for (int i = 0; i < 256; ++i) CHECK_FALSE(d.ask("login", R"({"server":"s)" + std::to_string(i) + R"("})").empty());
  d.desk.asked.clear();
  d.desk.on_left = [&] { d.line.events->on_closed({errc::io, "gone"}); };
  d.ask("login", R"({"server":"one more"})");
  d.run();
  CHECK(d.desk.asked.front() == "left s0, not the last");
  CHECK_FALSE(d.desk.waited_for());
}

TEST_CASE("auth methods: a connection that began a login or waits for it does so until it ends") {
  auth_door d;
  SUBCASE("while the login begins") {
    d.desk.slow = true;
    CHECK(d.ask("login", R"({"server":"saas"})").empty());
  }
  SUBCASE("while nobody asks for its end") {
    CHECK_FALSE(d.ask("login", R"({"server":"saas"})").empty());
  }
  SUBCASE("while it waits for a login that another one began") {
    CHECK(d.ask("wait", R"({"server":"saas"})").empty());
  }
  SUBCASE("while it does both, once") {
    CHECK_FALSE(d.ask("login", R"({"server":"saas"})").empty());
    CHECK(d.ask("wait", R"({"server":"saas"})").empty());
  }
  CHECK(d.desk.waited_for());
  d.desk.asked.clear();
  d.line.events->on_closed({errc::io, "gone"});
  d.run();
  CHECK(d.desk.asked == std::vector<std::string>{"left saas"});
}

TEST_CASE("auth methods: wrong params are told by name and reach no desk") {
  auth_door d;
  CHECK(contains(d.ask("login", "{}"), "params.server"));
  CHECK(contains(d.ask("complete", R"({"server":"saas"})"), "params.address"));
  CHECK(contains(d.ask("status", R"({"serer":"saas"})"), "-32602"));
  CHECK(d.desk.asked.empty());
  CHECK(contains(d.ask("complete", R"({"server":"saas","address":"x"})"), "that is not the answer"));
}

TEST_CASE("auth methods: the status has every server and no token") {
  auth_door d;
  login_status s;
  s.server = "saas";
  s.url = "https://saas/mcp";
  s.principal = "http";
  s.state = "logged_in";
  s.issuer = "https://as";
  s.expires_at_ms = 5;
  s.renews = true;
  d.desk.report = {{s}, "systemd", "/state/credentials.json"};
  CHECK(contains(
      d.ask("status", "{}"),
      R"({"file":"/state/credentials.json","protection":"systemd","servers":[{"server":"saas",)"
      R"("url":"https://saas/mcp","principal":"http","state":"logged_in","issuer":"https://as","scopes":[],"expiresAtMs":5,)"
      R"("renews":true}]})"));
}

TEST_CASE("auth methods: a daemon without logins says so") {
  auth_door d;
  d.backend.desk_of_logins = nullptr;
  for (const auto* method : {"login", "wait", "cancel", "logout"})
    CHECK(contains(d.ask(method, R"({"server":"saas"})"), "this daemon has no logins"));
}

TEST_CASE("auth methods: a tool server that may call logs nobody in or out") {
  auth_door d("git");
  for (const auto* method : {"login", "wait", "cancel", "logout", "status"})
    CHECK(contains(d.ask(method, method == std::string("status") ? "{}" : R"({"server":"saas"})"), "error"));
  CHECK(d.desk.asked.empty());
}

}  // namespace
