// Processes: what a tool server is given, what is left when something ends (G20 to G22, G36).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

using namespace mcpbx::e2e;

namespace {

/// Servers with every way of outliving their daemon, up and with calls open.
config stubborn_servers() {
  return config()
      .server("plain")
      .server("deaf", {"--behave", "ignore-sigterm"})
      .server("no-eof", {"--behave", "ignore-eof"})
      .server("stopped")
      .server("spins")
      .server("family")
      .server("escaped", {"--behave", "grandchild-setsid"});
}

const std::vector<std::string> stubborn_names{"plain", "deaf", "no-eof", "stopped", "spins", "family", "escaped"};

void misbehave(caller& c) {
  c.call("family__grandchild");
  c.call("family__grandchild", R"({"kind":"closed"})");
  c.call("family__grandchild-setsid");
  c.call("family__grandchild-setsid", R"({"kind":"closed"})");
  c.start_call("stopped__stop-self");
  c.start_call("spins__spin");
  c.start_call("plain__never-answer");
  c.start_call("deaf__no-read");
}

bool socket_exists(const daemon_under_test& d) {
  return std::filesystem::exists(d.socket());
}

}  // namespace

TEST_CASE("G20 G21: SIGTERM stops in order whatever the servers do: status 0, no socket, no process") {
  daemon_under_test d(stubborn_servers());
  d.wait_ready(stubborn_names);
  caller c = d.session();
  misbehave(c);
  REQUIRE(eventually([&] { return d.tagged().size() >= stubborn_names.size() + 5; }));
  const auto end = d.stop(SIGTERM);
  CHECK(end.status == 0);
  CHECK_FALSE(socket_exists(d));
  CHECK(eventually([&] { return d.tagged().empty(); }));
  CHECK(c.closed_by_peer());
}

TEST_CASE("G20: running calls may end, new ones are refused") {
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}));
  caller c = d.session(), other = d.session();
  const auto running = c.start_call("s__wait_for_file", R"({"path":")" + d.file("go") + "\"}");
  REQUIRE(eventually([&] { return read_file(d.file("log")).find("tools/call") != std::string::npos; }));
  d.process().signal(SIGTERM);
  REQUIRE(eventually([&] { return d.log().find("stopping") != std::string::npos; }));
  CHECK(other.call("s__echo", R"({"text":"late"})").failed());
  d.write("go", "");
  CHECK(c.wait(running).text().starts_with("found"));
  CHECK(d.process().wait().status == 0);
  CHECK(read_file(d.file("log")).find("eof") != std::string::npos);
}

TEST_CASE("G20: mcpbx/stop stops like SIGTERM, and the caller gets its answer") {
  daemon_under_test d(config().server("s"));
  caller c = d.session();
  CHECK_FALSE(c.request("mcpbx/stop").failed());
  CHECK(d.process().wait().status == 0);
  CHECK_FALSE(socket_exists(d));
}

TEST_CASE("G20: `mcpbx stop` returns when all is gone, and until then no second daemon starts") {
  daemon_under_test d(config().server("s", {"--behave", "ignore-sigterm"}));
  d.wait_ready({"s"});
  auto stopping = start_cli(d, {"stop"});
  // Its socket goes at once; its servers take the seconds that they are given, for which time stands still here.
  REQUIRE(eventually([&] { return !socket_exists(d); }));
  d.process().signal(SIGSTOP);
  const auto second = run_daemon(d, {"--config", d.file("config.json"), "--socket", d.socket()});
  REQUIRE(alive(d.pid()));
  CHECK_FALSE(stopping->ended());
  d.process().signal(SIGCONT);
  CHECK(second.status == 1);
  CHECK(contains(second.err, "is starting or stopping already holds"));
  const auto end = stopping->wait();
  CHECK(end.status == 0);
  CHECK_FALSE(alive(d.pid()));
  CHECK(d.tagged().empty());
  CHECK(d.process().wait().status == 0);
}

TEST_CASE("G20: a database that does not answer does not hold up the stop") {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener, 64) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  // Each of these hosts is waited for, which takes longer than this test waits for anything.
  const auto host = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  std::string hosts = host;
  for (int i = 0; i < 15; ++i) hosts += "," + host;
  {
    daemon_under_test d(config().server("s").top("store", R"({"url":"postgresql://me@)" + hosts + "/talk\"}"));
    pollfd one{listener, POLLIN, 0};
    CHECK(::poll(&one, 1, 30'000) == 1);  // the journal is asked for runs that were left
    CHECK(d.stop(SIGTERM).status == 0);
    CHECK_FALSE(socket_exists(d));
    CHECK(eventually([&] { return d.tagged().empty(); }));
  }
  ::close(listener);
}

TEST_CASE("G20: a second signal ends at once, and still no process stays") {
  daemon_under_test d(stubborn_servers());
  d.wait_ready(stubborn_names);
  caller c = d.session();
  misbehave(c);
  d.process().signal(SIGTERM);
  REQUIRE(eventually([&] { return d.log().find("stopping") != std::string::npos; }));
  CHECK(d.stop(SIGINT).status == 0);
  CHECK(eventually([&] { return d.tagged().empty(); }));
}

TEST_CASE("G21: SIGKILL of the daemon leaves no process, setsid grandchildren included") {
  daemon_under_test d(stubborn_servers());
  d.wait_ready(stubborn_names);
  caller c = d.session();
  misbehave(c);
  REQUIRE(eventually([&] { return d.tagged().size() >= stubborn_names.size() + 5; }));
  const pid_t keeper = d.keeper();
  REQUIRE(keeper > 0);
  d.stop(SIGKILL);
  CHECK(eventually([&] { return d.tagged().empty(); }));
  CHECK(eventually([&] { return !alive(keeper); }));
  // The socket file of the dead one is in nobody's way.
  d.start();
  CHECK(d.session().call("plain__echo", R"({"text":"back"})").text() == "back");
}

TEST_CASE("G21: a keeper that is killed is replaced, its processes are swept and the servers come back") {
  daemon_under_test d(
      config().server("a", {"--behave", "ignore-sigterm"}).server("b", {"--behave", "grandchild-setsid"}));
  d.wait_ready({"a", "b"});
  caller c = d.session();
  const auto before = d.tagged();
  const pid_t keeper = d.keeper();
  ::kill(keeper, SIGKILL);
  CHECK(eventually([&] {
    for (const pid_t pid : d.tagged())
      if (before.contains(pid)) return false;
    return true;
  }));
  for (const std::string name : {"a", "b"})
    CHECK(eventually([&] { return text_at(c.server(name), "restarts") == "1" && c.state(name) == "ready"; }));
  CHECK(d.keeper() != keeper);
  const auto r = c.call("a__echo", R"({"text":"back"})");
  CHECK_MESSAGE(r.text() == "back", r.line);
  CHECK(eventually([&] { return zombies_of(d.pid()) + zombies_of(d.keeper()) == 0; }));
}

TEST_CASE("G22: a tool server has the descriptors 0 1 2 and a session apart from the daemon's") {
  daemon_under_test d(config().server("a").server("b"));
  d.wait_ready({"a", "b"});
  caller c = d.session();
  for (const std::string name : {"a", "b"}) {
    const auto fds = c.call(name + "__fds").get("result.structuredContent");
    REQUIRE(fds.is_object());
    CHECK(fds.as_object().size() == 3);
    for (const char* fd : {"0", "1", "2"}) CHECK(fds.as_object().contains(fd));
    const auto process = c.call(name + "__process").get("result.structuredContent");
    CHECK(at(process, "pgid") == at(process, "pid"));
    CHECK(at(process, "ppid").as_int64() == d.keeper());
    CHECK(text_at(process, "cwd") == d.dir());  // $HOME
  }
}

TEST_CASE("G22: a hundred restarts leave neither descriptors nor zombies behind") {
  daemon_under_test d(config().server("s", {"--spawn-log", "@DIR@/spawns"}));
  d.wait_ready({"s"});
  caller c = d.session();
  const auto again = [&](std::size_t starts) {
    c.request("mcpbx/restart", R"({"server":"s"})");
    REQUIRE(
        eventually([&] { return count_of(read_file(d.file("spawns")), "\n") == starts && c.state("s") == "ready"; }));
  };
  again(2);
  REQUIRE(eventually([&] { return d.tagged().size() == 1; }));
  const std::size_t daemon = open_descriptors(d.pid()), keeper = open_descriptors(d.keeper());
  for (std::size_t i = 3; i <= 102; ++i) again(i);
  CHECK(eventually([&] { return d.tagged().size() == 1; }));
  CHECK(eventually([&] { return zombies_of(d.pid()) + zombies_of(d.keeper()) == 0; }));
  CHECK(eventually([&] { return open_descriptors(d.pid()) == daemon; }));
  CHECK(eventually([&] { return open_descriptors(d.keeper()) == keeper; }));
}

TEST_CASE("G22: callers that come and go leave no descriptors behind") {
  daemon_under_test d(config().server("s"));
  d.wait_ready({"s"});
  caller c = d.session();
  REQUIRE(eventually([&] { return c.request("mcpbx/status").get("result.callers.open") == json::value(1); }));
  const std::size_t before = open_descriptors(d.pid());
  for (int i = 0; i < 200; ++i) {
    caller other = i % 2 ? d.session() : d.connect();
    if (i % 4 == 1) other.start_call("s__echo", R"({"text":"unheard"})");
  }
  CHECK(eventually([&] { return open_descriptors(d.pid()) <= before; }));
}

TEST_CASE("G36: a tool server gets exactly the variables that its entry allows") {
  daemon_under_test::options o;
  o.files = {{"env", "# a file of variables\nexport FROM_FILE=\"yes\"\n"}};
  o.env = {"CANARY_SECRET=canary",   "USER=u",       "LOGNAME=u",
           "SHELL=/bin/sh",          "TERM=dumb",    "TZ=Europe/Berlin",
           "PASSED=from the daemon", "NOT_PASSED=x", "LD_LIBRARY_PATH=/nowhere"};
  daemon_under_test d(
      config().server("plain").server("mine", {},
                                      R"("env":{"OWN":"${env:PASSED}!","HOME":"/elsewhere"},)"
                                      R"("passEnv":["PASSED","E2E_UNSET"],"envFile":"@DIR@/env","cwd":"/")"),
      o);
  caller c = d.session();
  const auto names = [&](const std::string& server) {
    std::set<std::string> out;
    const auto env = c.call(server + "__env").get("result.structuredContent");
    REQUIRE(env.is_object());
    for (const auto& [name, value] : env.as_object()) out.insert(name);
    return out;
  };
  const std::set<std::string> standard{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ"};
  CHECK(names("plain") == standard);
  auto more = standard;
  more.insert({"OWN", "PASSED", "FROM_FILE"});
  CHECK(names("mine") == more);
  const auto env = c.call("mine__env").get("result.structuredContent");
  CHECK(text_at(env, "OWN") == "from the daemon!");
  CHECK(text_at(env, "HOME") == "/elsewhere");
  CHECK(text_at(env, "FROM_FILE") == "yes");
  CHECK(text_at(c.call("mine__process").get("result.structuredContent"), "cwd") == "/");
}
