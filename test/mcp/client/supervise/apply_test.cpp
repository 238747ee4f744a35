// Replacing the list of servers: only servers that differ are started, restarted or stopped.
#include "test/mcp/client/supervisor_rig.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;
using box = supervisor_rig::outcome_box;

namespace {

server_options identified(const std::string& name, std::string identity) {
  auto o = server_named(name);
  o.identity = std::move(identity);
  return o;
}

/// Servers that are up, with the number of catalog changes since then.
struct apply_rig : supervisor_rig {
  explicit apply_rig(std::vector<server_options> first) {
    for (const auto* name : {"a", "b", "c"}) launcher.add(name, legacy_script({"echo", "list"}));
    start(std::move(first));
    heard = supervisor->on_catalog_change([this](const feature_kind&) { ++changes; });
  }
  void apply(std::vector<server_options> list) {
    supervisor->apply(with_processes(std::move(list)));
    turn();
  }
  scripted_process& process(std::size_t i) { return *launcher.spawned.at(i); }

  int changes = 0;
  supervisor::subscription heard;
};

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("apply: the same list again restarts nothing and tells nothing") {
  apply_rig r({server_named("a"), server_named("b")});
  const auto before = r.supervisor->snapshot();
  r.apply({server_named("a"), server_named("b")});
  r.advance(10'000);
  CHECK(r.launcher.spawned.size() == 2);
  CHECK(r.changes == 0);
  CHECK(r.supervisor->snapshot() == before);
}

TEST_CASE("apply: a new server is started, and the others do not notice") {
  apply_rig r({server_named("a")});
  const auto kept = r.supervisor->snapshot()->find("a__echo");
  r.apply({server_named("a"), server_named("b")});
  CHECK(r.launcher.spawned.size() == 2);
  CHECK(r.names() == names{"a__echo", "a__list", "b__echo", "b__list"});
  CHECK(r.supervisor->snapshot()->find("a__echo") == kept);
  CHECK(r.changes == 1);
}

TEST_CASE("apply: a call that a removed server works at ends as with stop, and its tools are gone at once") {
  apply_rig r({server_named("a"), server_named("b")});
  r.process(0).on_message = [](scripted_process&, const message&) {};
  box open, late;
  const auto owner = r.owner("a__echo");
  r.call(*owner, open);
  r.turn();
  r.apply({server_named("b")});
  CHECK(r.names() == names{"b__echo", "b__list"});
  CHECK(r.supervisor->status().size() == 1);
  CHECK(r.supervisor->open_calls() == 1);
  CHECK_FALSE(r.process(0).stdin_closed);
  r.call(*owner, late);
  r.turn();
  CHECK(late.text() == "tool server \"a\" takes no new calls: it is not configured any more");
  r.advance(2999);
  CHECK(open.times == 0);
  r.advance(1);
  CHECK(open.text() == "tools/call echo was cancelled: it is not configured any more");
  CHECK(r.process(0).count("notifications/cancelled") == 1);
  CHECK(r.process(0).exited);
  CHECK_FALSE(r.process(1).exited);
  r.advance(120'000);
  CHECK(r.launcher.spawned.size() == 2);
}

TEST_CASE("apply: a server whose call ends before the grace is over is ended then") {
  apply_rig r({server_named("a")});
  box open;
  r.call(*r.owner("a__echo"), open);
  r.supervisor->apply({});
  r.turn();
  CHECK(open.answered());
  CHECK(r.process(0).stdin_closed);
  CHECK(r.launcher.alive() == 0);
  CHECK(r.names().empty());
}

TEST_CASE("apply: a changed server is restarted once, when the old one has gone") {
  apply_rig r({identified("a", "old"), server_named("b")});
  r.process(0).ignores_stdin_end = true;
  r.apply({identified("a", "new"), server_named("b")});
  CHECK(r.launcher.spawned.size() == 2);
  CHECK(r.status(0).state == server_state::restarting);
  CHECK(r.supervisor->tried());  // stays, as it was true before
  CHECK(r.names() == names{"b__echo", "b__list"});
  CHECK(r.supervisor->restart("a").has_value());  // accepted, since "a" starts anyway
  int settled = 0;
  r.supervisor->when_settled(milliseconds(60'000), [&] { ++settled; });
  r.turn();
  CHECK(settled == 0);
  r.advance(1000);
  CHECK(r.process(0).signals == std::vector<int>{SIGTERM});
  CHECK(r.launcher.spawned.size() == 3);
  CHECK(settled == 1);
  CHECK(r.names() == names{"a__echo", "a__list", "b__echo", "b__list"});
  CHECK(r.status(0).state == server_state::ready);
  r.advance(120'000);
  CHECK(r.launcher.spawned.size() == 3);
  CHECK(r.launcher.alive() == 2);
}

TEST_CASE("apply: settings that need no restart hold from now on") {
  apply_rig r({server_named("a")});
  auto o = server_named("a");
  o.tools.deny = {"list"};
  o.plain_names = true;
  o.limits.idle = milliseconds(700);
  o.max_concurrency = 1;
  r.process(0).on_message = [](scripted_process&, const message&) {};
  r.apply({o});
  CHECK(r.launcher.spawned.size() == 1);
  CHECK(r.changes == 1);
  REQUIRE(r.names() == names{"echo"});
  CHECK(r.supervisor->snapshot()->find("echo")->manner.serial);
  box first, second;
  r.call(*r.owner("echo"), first);
  r.call(*r.owner("echo"), second);
  r.turn();
  CHECK(r.process(0).count("tools/call") == 1);
  r.advance(700);
  CHECK(first.failed());
}

TEST_CASE("apply: another order is the catalog's order, without a restart") {
  apply_rig r({server_named("a"), server_named("b")});
  r.apply({server_named("b"), server_named("a")});
  CHECK(r.names() == names{"b__echo", "b__list", "a__echo", "a__list"});
  CHECK(r.status(0).name == "b");
  CHECK(r.changes == 1);
  CHECK(r.launcher.spawned.size() == 2);
  box b;
  r.call(*r.owner("b__echo"), b);
  r.turn();
  CHECK(b.text() == text_result("b:echo"));
}

TEST_CASE("apply: a server that comes back while it leaves starts when it has left") {
  apply_rig r({server_named("a")});
  r.process(0).ignores_stdin_end = true;
  r.apply({});
  r.apply({server_named("a")});
  CHECK(r.launcher.spawned.size() == 1);
  r.advance(1000);
  CHECK(r.launcher.spawned.size() == 2);
  CHECK(r.launcher.alive() == 1);
  CHECK(r.names() == names{"a__echo", "a__list"});
}

TEST_CASE("apply: inside of a callback the last list holds") {
  apply_rig r({server_named("a")});
  SUBCASE("of the catalog") {
    bool once = false;
    const auto more = r.supervisor->on_catalog_change([&](const feature_kind&) {
      if (!std::exchange(once, true)) r.supervisor->apply(r.with_processes({server_named("c")}));
    });
    r.apply({server_named("a"), server_named("b")});
  }
  SUBCASE("of a call that ends") {
    r.process(0).on_message = [](scripted_process&, const message&) {};
    server_call call;
    call.params = raw_json::literal(R"({"name":"echo"})");
    call.done = [&](const call_outcome&) { r.supervisor->apply(r.with_processes({server_named("c")})); };
    r.owner("a__echo")->call(std::move(call));
    r.turn();
    r.apply({server_named("b")});
    r.advance(3000);
  }
  SUBCASE("of apply itself, which makes the way to a server") {
    auto b = r.with_processes({server_named("b")}).front();
    b.connect = [&r, way = b.connect] {
      r.supervisor->apply(r.with_processes({server_named("c")}));
      return way();
    };
    r.apply({server_named("a"), b});
  }
  r.advance(5000);
  CHECK(r.names() == names{"c__echo", "c__list"});
  CHECK(r.launcher.alive() == 1);
  CHECK(r.supervisor->status().size() == 1);
}

TEST_CASE("apply: after stop it is ignored, and stop waits for servers that leave") {
  apply_rig r({server_named("a"), server_named("b")});
  r.process(0).ignores_stdin_end = true;
  r.apply({server_named("b")});
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; });
  r.apply({server_named("b"), server_named("c")});
  CHECK(stopped == 0);
  CHECK(r.supervisor->status().size() == 1);
  r.advance(1000);
  CHECK(stopped == 1);
  CHECK(r.launcher.alive() == 0);
  CHECK(r.launcher.spawned.size() == 2);
}

TEST_CASE("apply: a stop shortens the grace of servers that leave, and does not start what waits for them") {
  apply_rig r({identified("a", "old")});
  r.process(0).on_message = [](scripted_process&, const message&) {};
  box open;
  r.call(*r.owner("a__echo"), open);
  r.turn();
  r.apply({identified("a", "new")});
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; }, milliseconds(100));
  r.advance(100);
  CHECK(open.text() == "tools/call echo was cancelled: its configuration has changed");
  CHECK(stopped == 1);
  CHECK(r.launcher.spawned.size() == 1);
}

TEST_CASE("apply: a supervisor that is destroyed lets go of servers that leave") {
  apply_rig r({server_named("a")});
  r.process(0).ignores_stdin_end = true;
  r.apply({});
  r.heard.reset();
  r.supervisor.reset();
  CHECK(r.process(0).killed_by_owner);
}
