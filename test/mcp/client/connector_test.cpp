// Managed clients with a connector that has no process, and links of the connector of processes.
#include "mcp/client/connect/connector.hpp"

#include "test/mcp/async/pump.hpp"
#include "test/mcp/client/memory_connector.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace connectors {

using namespace mcpbx;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::connect;
using namespace mcpbx::mcp::process;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;
using box = supervisor_rig::outcome_box;

struct memory_rig : supervisor_rig {
  boost::asio::io_context io;
  memory_connector::record memory{io};
  ~memory_rig() { supervisor.reset(); }

  server_options server() {
    auto o = server_named("mem");
    o.connect = [this] { return std::make_unique<memory_connector>(memory); };
    return o;
  }
  void start_server() {
    start({server()});
    settle();
  }
  /// Runs the work that is due now on both sides.
  void settle() {
    for (int i = 0; i < 10; ++i) {
      run_ready(io);
      turn();
    }
  }
  void pass(int ms) {
    advance(ms);
    settle();
  }
};

TEST_CASE("a server without a process is called, starts again when it left, and stops when it is asked to") {
  memory_rig r;
  r.start_server();
  CHECK(r.status().state == server_state::ready);
  CHECK_FALSE(r.status().process);
  REQUIRE(r.names() == std::vector<std::string>{"mem__echo"});
  box first, cut, second;
  const auto owner = r.owner("mem__echo");
  r.call(*owner, first);
  r.settle();
  CHECK(first.answered());

  r.call(*owner, cut);
  r.memory.servers.back()->leave();
  r.settle();
  CHECK(cut.failed());
  CHECK(cut.text() == "tool server \"mem\" left during the call");
  CHECK(r.memory.servers.size() == 2);
  CHECK(r.status().state == server_state::ready);
  CHECK(r.status().restarts == 1);
  CHECK(r.status().last_error == "tool server \"mem\" left");
  r.call(*owner, second);
  r.settle();
  CHECK(second.answered());

  bool stopped = false;
  r.supervisor->stop([&] { stopped = true; });
  r.settle();
  CHECK(stopped);
  CHECK(r.memory.servers.back()->steps == std::vector<ending>{ending::ask});
  CHECK(r.launcher.attempts == 0);
}

TEST_CASE(
    "G20: a server without a process that ignores its end is asked, told, made to and given up in the same steps") {
  memory_rig r;
  r.memory.on_each = [](memory_server& s) { s.ignores_end = true; };
  r.start_server();
  REQUIRE(r.supervisor->restart("mem"));
  r.settle();
  auto& server = *r.memory.servers.front();
  CHECK(server.steps == std::vector<ending>{ending::ask});
  r.pass(999);
  CHECK(server.steps.size() == 1);
  r.pass(1);
  CHECK(server.steps.back() == ending::insist);
  r.pass(2'999);
  CHECK(server.steps.size() == 2);
  r.pass(1);
  CHECK(server.steps.back() == ending::force);
  CHECK(r.memory.attempts == 1);
  r.pass(2'000);
  CHECK(r.status().last_error == "tool server \"mem\" is still there after closing it; mcpbx no longer waits for it");
  CHECK(r.memory.attempts == 2);
}

TEST_CASE("a connection that cannot be opened is tried again, unless the connector says that it is of no use") {
  memory_rig r;
  SUBCASE("tried again") {
    r.memory.failure = {"cannot be reached: no route"};
    r.start_server();
    CHECK(r.memory.attempts == 2);
    CHECK(r.status().state == server_state::failed);
    CHECK(r.status().last_error == "tool server \"mem\" cannot be reached: no route");
    CHECK(r.status().next_try_ms > 0);
    r.memory.failure = {};
    for (int i = 0; i < 60; ++i) r.pass(1'000);
    CHECK(r.status().state == server_state::ready);
  }
  SUBCASE("of no use until somebody restarts it") {
    r.memory.failure = {"refuses the token", false};
    r.start_server();
    for (int i = 0; i < 60; ++i) r.pass(60'000);
    r.supervisor->keeper_replaced();
    r.settle();
    CHECK(r.memory.attempts == 1);
    CHECK(r.status().state == server_state::failed);
    CHECK(r.status().start_failed);
    CHECK(r.status().next_try_ms == -1);
    r.memory.failure = {};
    REQUIRE(r.supervisor->restart("mem"));
    r.settle();
    CHECK(r.status().state == server_state::ready);
  }
  bool stopped = false;
  r.supervisor->stop([&] { stopped = true; });
  r.settle();
  CHECK(stopped);
}

// Destroys its link inside the event number `at`.
struct leaver final : link_events {
  int at = 0, events = 0;
  std::unique_ptr<transport> connection;
  std::unique_ptr<server_link> link;
  void event() {
    if (events++ == at) link.reset();
  }
  void on_open(std::unique_ptr<transport> c) override {
    connection = std::move(c);
    event();
  }
  void on_not_opened(const link_failure&) override { event(); }
  void on_ended(const std::string&) override { event(); }
};

TEST_CASE("process connector: in any event its user may destroy the link") {
  for (int at = 0; at < 2; ++at)
    for (const std::string source : {"starts", "has no program", "is unset"}) {
      CAPTURE(at);
      CAPTURE(source);
      supervisor_rig r;
      r.launcher.add("srv", scripted_launcher::setup([](scripted_process& p) { p.exit(3); }));
      if (source == "has no program") r.launcher.spawn_failure = "no such program";
      const auto way = r.process_of("srv", [&](const auto& then) {
        if (source == "is unset") return then(fail(errc::config, "it is unset"));
        then(process_spec{"srv", {"/bin/srv"}, {}, "/", false});
      })();
      leaver l;
      l.at = at;
      l.link = way->open(l);
      CHECK(l.events == 0);
      r.advance(10);
      CHECK(l.events == (source == "starts" ? at + 1 : 1));
      CHECK(way->process()->pid == -1);
      CHECK(way->process()->exit == (l.events == 2 ? "exit status 3" : ""));
    }
}

TEST_CASE("process connector: once its end was asked for before it had begun, no process is started") {
  supervisor_rig r;
  std::function<void(result<process_spec>)> later;
  const auto way = r.process_of("srv", [&](const auto& then) { later = then; })();
  leaver l;
  l.link = way->open(l);
  CHECK_FALSE(l.link->end(ending::ask));
  later(process_spec{"srv", {"/bin/srv"}, {}, "/", false});
  l.link.reset();
  later(process_spec{"srv", {"/bin/srv"}, {}, "/", false});
  r.advance(10);
  CHECK(r.launcher.attempts == 0);
  CHECK(l.events == 0);
}

}  // namespace connectors
