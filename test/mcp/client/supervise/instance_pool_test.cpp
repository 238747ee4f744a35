// Servers with a process for each caller or run: begun with the first call, ended with their callers, bounded, and with
// one list for all.
#include "mcp/client/supervise/instance_pool.hpp"

#include "test/mcp/client/supervisor_rig.hpp"
#include "test/support/contains.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::process;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;
using box = supervisor_rig::outcome_box;

namespace {

server_options own(server_sharing sharing = server_sharing::per_caller, const std::string& name = "s") {
  auto o = server_named(name);
  o.sharing = sharing;
  return o;
}

/// One such server. Each of its processes answers calls with its pid.
struct pool_rig : supervisor_rig {
  explicit pool_rig(server_options o = own()) {
    launcher.add(o.name, legacy_script({"echo"}, [this](scripted_process& p, const message& m) {
                   if (m.type != message::kind::request || m.method() != "tools/call") return false;
                   if (!holds) p.answer(m, text_result("pid " + std::to_string(p.pid)));
                   return true;
                 }));
    start({std::move(o)});
  }
  void call_for(const call_scope_ptr& scope, box& b) {
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.name = "s__echo";
    c.scope = scope;
    c.done = [&b](call_outcome o) {
      ++b.times;
      b.last = std::move(o);
    };
    last = owner("s__echo")->call(std::move(c));
    turn();
  }
  /// Calls and returns the pid of the process that answered, or the failure.
  std::string who_answers(const call_scope_ptr& scope) {
    box b;
    call_for(scope, b);
    CHECK(b.times == 1);
    if (b.last.type == call_outcome::kind::failed) return b.last.failure.message;
    const std::string text(b.last.value.text());
    const auto at = text.find("pid ");
    return text.substr(at, text.find('"', at) - at);
  }
  std::size_t alive() const { return launcher.alive(); }

  bool holds = false;  ///< calls get no answer
  client::ticket last = 0;
};

call_scope_ptr caller(const std::string& label) {
  return call_scope::of_caller(label);
}

}  // namespace

TEST_CASE("instances: each connects for the principal of its caller, and only that one's are restarted for it") {
  auto o = own();
  std::vector<std::string> connected;
  pool_rig* rig = nullptr;
  o.connect_for = [&](const std::string& principal) {
    connected.push_back(principal);
    return rig->process_of("s", [](const auto& then) { then(process_spec{"s", {"/bin/s"}, {}, "/", false}); });
  };
  pool_rig r(std::move(o));
  rig = &r;
  const auto me = call_scope::of_caller("me", {}, "uid:1"), port = call_scope::of_caller("port", {}, "http");
  CHECK(r.who_answers(me) == "pid 1001");
  CHECK(r.who_answers(port) == "pid 1002");
  CHECK(r.who_answers(call_scope::of_run("run", port, "ignored")) == "pid 1002");
  CHECK(r.who_answers(call_scope::of_run("later", nullptr, "http")) == "pid 1003");
  CHECK(connected == std::vector<std::string>{"uid:1", "http", "http"});
  const auto is_port = [](const std::string& principal) { return principal == "http"; };
  r.supervisor->renew("s", is_port, false);  // they work
  r.turn();
  CHECK(r.launcher.spawned.size() == 4);
  r.supervisor->renew("s", is_port, true);
  r.advance(5'000);
  CHECK(r.who_answers(me) == "pid 1001");
  CHECK(r.who_answers(port) != "pid 1002");
  r.supervisor->renew("none", is_port, true);
}

TEST_CASE("instances: each caller has a process of its own and the lists come from one more") {
  pool_rig r;
  CHECK(r.names() == std::vector<std::string>{"s__echo"});
  CHECK(r.alive() == 1);
  const auto a = caller("a"), b = caller("b");
  CHECK(r.who_answers(a) == "pid 1001");
  CHECK(r.who_answers(b) == "pid 1002");
  CHECK(r.who_answers(a) == "pid 1001");
  CHECK(r.launcher.spawned.size() == 3);
  CHECK(r.launcher.spawned[0]->count("tools/call") == 0);
  const auto s = r.status();
  CHECK(s.state == server_state::ready);
  CHECK(s.per_scope);
  REQUIRE(s.instances.size() == 2);
  CHECK(s.instances[0].of == "a");
  CHECK(s.instances[1].pid == 1002);
  CHECK(s.instances[1].state == server_state::ready);
}

TEST_CASE("instances: the runs of a caller share its process with perCaller and have their own with perRun") {
  const auto a = caller("a");
  const auto one = call_scope::of_run("run 1", a), two = call_scope::of_run("run 2", a);
  SUBCASE("perCaller") {
    pool_rig r;
    CHECK(r.who_answers(one) == "pid 1001");
    CHECK(r.who_answers(two) == "pid 1001");
    CHECK(r.who_answers(a) == "pid 1001");
    CHECK(r.status().instances.at(0).of == "a");
  }
  SUBCASE("perRun") {
    pool_rig r(own(server_sharing::per_run));
    CHECK(r.who_answers(one) == "pid 1001");
    CHECK(r.who_answers(two) == "pid 1002");
    CHECK(r.who_answers(a) == "pid 1003");
    CHECK(r.who_answers(one) == "pid 1001");
  }
  SUBCASE("a run without a caller counts as one") {
    pool_rig r;
    CHECK(r.who_answers(call_scope::of_run("run 3", nullptr)) == "pid 1001");
    CHECK(r.who_answers(call_scope::of_run("run 4", nullptr)) == "pid 1002");
  }
}

TEST_CASE("instances: a call that names no caller is refused and starts nothing") {
  pool_rig r;
  CHECK(r.who_answers(nullptr).contains("has a process for each caller, and this call names none"));
  CHECK(r.alive() == 1);
}

TEST_CASE("instances: the process of a caller that leaves ends once its calls have ended") {
  pool_rig r;
  r.holds = true;
  auto a = caller("a");
  box open;
  r.call_for(a, open);
  auto& process = *r.launcher.spawned.at(1);
  a.reset();
  r.turn();
  CHECK_FALSE(process.stdin_closed);
  SUBCASE("by an answer") {
    auto m = parse_message(raw_json::own(process.last("tools/call")));
    process.answer(*m, text_result("late"));
    r.turn();
    CHECK(open.answered());
  }
  SUBCASE("by a cancellation") {
    r.owner("s__echo")->cancel(r.last, "test");
    r.turn();
    CHECK(open.failed());
  }
  r.turn();
  CHECK(process.stdin_closed);
  CHECK(process.exited);
  CHECK(r.status().instances.empty());
  CHECK(r.alive() == 1);
}

TEST_CASE("instances: a run keeps the process of its caller that has left") {
  pool_rig r;
  auto a = caller("a");
  auto run = call_scope::of_run("run", a);
  CHECK(r.who_answers(a) == "pid 1001");
  a.reset();
  r.turn();
  CHECK(r.who_answers(run) == "pid 1001");
  run.reset();
  r.turn();
  CHECK(r.alive() == 1);
}

TEST_CASE("instances: at the bound a caller gets an error that may be retried and later a process") {
  auto o = own();
  o.max_instances = 2;
  pool_rig r(o);
  auto a = caller("a"), b = caller("b"), c = caller("c");
  r.who_answers(a);
  r.who_answers(b);
  box full;
  r.call_for(c, full);
  REQUIRE(full.failed());
  CHECK(full.last.failure.code == errc::limit);
  CHECK(full.text() ==
        "tool server \"s\" has 2 processes already, one for each caller (maxInstances); try again when one has ended");
  CHECK(r.who_answers(a) == "pid 1001");
  b.reset();
  r.turn();
  CHECK(r.who_answers(c) == "pid 1003");
  CHECK(r.alive() == 3);
}

TEST_CASE("instances: one that cannot run gives its place to another caller") {
  auto o = own();
  o.max_instances = 1;
  pool_rig r(o);
  r.launcher.spawn_failure = "no memory";
  const auto a = caller("a"), b = caller("b");
  CHECK(r.who_answers(a).contains("cannot be started: no memory"));
  r.launcher.spawn_failure.clear();
  CHECK(r.who_answers(b).starts_with("pid "));
  CHECK(r.status().instances.at(0).of == "b");
}

TEST_CASE("instances: one that nobody calls for five minutes ends and begins anew with the next call") {
  pool_rig r;
  const auto a = caller("a");
  CHECK(r.who_answers(a) == "pid 1001");
  r.advance(200'000);
  CHECK(r.who_answers(a) == "pid 1001");
  r.advance(299'000);
  CHECK_FALSE(r.launcher.spawned.at(1)->exited);
  r.advance(1'000);
  CHECK(r.launcher.spawned.at(1)->exited);
  CHECK(r.status().instances.empty());
  CHECK(r.alive() == 0);  // the one that keeps the lists sleeps as well, and the lists stay
  CHECK(r.status().state == server_state::lazy);
  CHECK(r.who_answers(a) == "pid 1002");
  CHECK(r.alive() == 1);
}

TEST_CASE("instances: idleStopMs of the entry counts for them") {
  auto o = own();
  o.idle_stop = milliseconds(1'000);
  pool_rig r(o);
  r.who_answers(caller("a"));
  const auto b = caller("b");
  r.who_answers(b);
  r.advance(1'000);
  CHECK(r.alive() == 0);
}

TEST_CASE("instances: a list that changes in one of them counts for the server") {
  std::vector<std::string> tools{"echo"};
  supervisor_rig r;
  r.launcher.add("s", legacy_script({}, [&](scripted_process& p, const message& m) {
                   if (m.method() != "tools/list") return false;
                   std::vector<std::string> definitions;
                   for (const auto& t : tools) definitions.push_back(tool_definition(t));
                   p.answer(m, tools_page(definitions));
                   return true;
                 }));
  r.start({own()});
  int changes = 0;
  const auto heard = r.supervisor->on_catalog_change([&](const feature_kind&) { ++changes; });
  const auto a = caller("a");
  box b;
  server_call c;
  c.params = raw_json::literal(R"({"name":"echo"})");
  c.scope = a;
  c.done = [&](call_outcome) { ++b.times; };
  r.owner("s__echo")->call(std::move(c));
  r.turn();
  CHECK(b.times == 1);
  CHECK(changes == 0);  // the list of the new process is the same
  tools = {"echo", "more"};
  r.launcher.spawned.at(1)->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  r.advance(1'000);
  CHECK(r.names() == std::vector<std::string>{"s__echo", "s__more"});
  CHECK(changes == 1);
}

TEST_CASE("instances: what a caller with an account of its own sees listed is not the list of the server") {
  supervisor_rig r;
  r.launcher.add("s", legacy_script({}, [&](scripted_process& p, const message& m) {
                   if (m.method() != "tools/list") return false;
                   p.answer(m, tools_page({tool_definition("of" + std::to_string(p.pid))}));
                   return true;
                 }));
  auto o = own();
  o.same_lists = [](const std::string& principal) { return principal != "http"; };
  r.start({std::move(o)});
  const auto names = r.names();
  REQUIRE(names.size() == 1);
  int changes = 0;
  const auto heard = r.supervisor->on_catalog_change([&](const feature_kind&) { ++changes; });
  const auto call_for = [&](const call_scope_ptr& scope) {
    box b;
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.scope = scope;
    c.done = [&](call_outcome) { ++b.times; };
    r.owner(r.names().front())->call(std::move(c));
    r.turn();
    CHECK(b.times == 1);
  };
  const auto port = call_scope::of_caller("port", {}, "http"), me = call_scope::of_caller("me", {}, "uid:1");
  call_for(port);
  r.launcher.spawned.at(1)->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  r.advance(1'000);
  CHECK(r.names() == names);
  CHECK(changes == 0);
  call_for(me);
  r.advance(1'000);
  CHECK(r.names() != names);
  CHECK(changes == 1);
}

TEST_CASE("instances: the end of one fails its own calls only") {
  pool_rig r;
  r.holds = true;
  const auto a = caller("a"), b = caller("b");
  box one, two;
  r.call_for(a, one);
  r.call_for(b, two);
  r.launcher.spawned.at(1)->exit(3);
  r.turn();
  CHECK(one.failed());
  CHECK(one.text().contains("exited with status 3"));
  CHECK(two.times == 0);
  CHECK(r.status().last_error.contains("exited with status 3"));
  r.holds = false;
  r.advance(300);
  CHECK(r.who_answers(a) == "pid 1003");
  CHECK(r.status().restarts == 1);
}

TEST_CASE("instances: a restart of the server restarts all of its processes") {
  pool_rig r;
  const auto a = caller("a"), b = caller("b");
  r.who_answers(a);
  r.who_answers(b);
  REQUIRE(r.supervisor->restart("s"));
  r.turn();
  CHECK(r.launcher.spawned.size() == 6);
  CHECK(r.alive() == 3);
  CHECK(r.who_answers(a) != "pid 1001");
}

TEST_CASE("instances: a cancelled call is cancelled at its own process") {
  pool_rig r;
  r.holds = true;
  const auto a = caller("a"), b = caller("b");
  box one, two;
  r.call_for(a, one);
  const auto ticket = r.last;
  r.call_for(b, two);
  CHECK(r.last != ticket);
  r.owner("s__echo")->cancel(ticket, "test");
  r.turn();
  CHECK(one.failed());
  CHECK(one.last.failure.code == errc::cancelled);
  CHECK(two.times == 0);
  CHECK(r.launcher.spawned.at(1)->count("notifications/cancelled") == 1);
  CHECK(r.launcher.spawned.at(2)->count("notifications/cancelled") == 0);
}

TEST_CASE("instances: they run in the directory of their caller and one that has none is refused") {
  supervisor_rig r;
  r.launcher.add("s", legacy_script());
  std::vector<std::string> where;
  auto o = own();
  o.connect_in = [&](const std::string& cwd) {
    where.push_back(cwd);
    return r.process_of("s", [cwd](const auto& then) { then(process_spec{"s", {"/bin/s"}, {}, cwd, false}); });
  };
  r.start({o});
  const auto told = call_scope::of_caller("a", "/work"), untold = caller("b");
  const auto owner = r.owner("s__echo");
  const auto call = [&](const call_scope_ptr& scope, box& b) {
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.scope = scope;
    c.done = [&b](call_outcome out) {
      ++b.times;
      b.last = std::move(out);
    };
    owner->call(std::move(c));
    r.turn();
  };
  box one, two, three;
  call(call_scope::of_run("run", told), one);
  CHECK(one.answered());
  CHECK(r.launcher.last().spec.directory == "/work");
  call(untold, two);
  REQUIRE(two.failed());
  CHECK(two.last.failure.code == errc::invalid_argument);
  CHECK(two.text().contains("this caller has not told it; give cwd in mcpbx/hello"));
  untold->set_cwd("/other");
  call(untold, three);
  CHECK(three.answered());
  CHECK(where == std::vector<std::string>{"/work", "/other"});
}

TEST_CASE("instances: all of them end with the server's entry and with mcpbx") {
  pool_rig r;
  const auto a = caller("a"), b = caller("b");
  r.who_answers(a);
  r.who_answers(b);
  const auto owner = r.owner("s__echo");
  int stopped = 0;
  SUBCASE("the entry is gone") {
    r.supervisor->apply({});
  }
  SUBCASE("the entry is shared now") {
    r.supervisor->apply(r.with_processes({server_named("s")}));
    r.turn();
    CHECK(r.launcher.spawned.size() == 4);
    CHECK_FALSE(r.status().per_scope);
    r.supervisor->apply({});
  }
  SUBCASE("mcpbx stops") {
    r.supervisor->stop([&] { ++stopped; });
  }
  r.turn();
  r.turn();
  CHECK(r.alive() == 0);
  box late;
  server_call c;
  c.scope = a;
  c.done = [&](call_outcome o) {
    ++late.times;
    late.last = std::move(o);
  };
  owner->call(std::move(c));
  r.turn();
  CHECK(late.failed());
  CHECK(late.last.failure.code == errc::unavailable);
  CHECK(r.alive() == 0);
}

TEST_CASE("instances: the same list of servers again keeps them and new limits reach them") {
  pool_rig r;
  const auto a = caller("a");
  r.who_answers(a);
  auto o = own();
  o.limits.idle = milliseconds(50);
  o.max_instances = 1;
  r.supervisor->apply(r.with_processes({o}));
  r.turn();
  CHECK(r.launcher.spawned.size() == 2);
  r.holds = true;
  box b, c;
  r.call_for(a, b);
  r.advance(50);
  CHECK(b.failed());
  CHECK(b.last.failure.code == errc::timed_out);
  r.call_for(caller("c"), c);
  CHECK(c.last.failure.code == errc::limit);
}

TEST_CASE("instances: scopes may end while the supervisor is gone") {
  auto a = caller("a");
  std::shared_ptr<client> owner;
  {
    pool_rig r;
    r.who_answers(a);
    owner = r.owner("s__echo");
  }
  a.reset();
  owner.reset();
  CHECK_FALSE(a);
}

TEST_CASE("instances: numbers begin again after the largest one and skip those that are in use") {
  constexpr std::uint64_t largest = (std::uint64_t{1} << instance_pool::number_bits) - 1;
  const auto after = [](std::uint64_t last, std::vector<std::uint64_t> used) {
    return instance_pool::next_number(last, [&](std::uint64_t n) { return std::ranges::find(used, n) != used.end(); });
  };
  CHECK(after(0, {}) == 1);
  CHECK(after(1, {2, 3}) == 4);
  CHECK(after(largest, {}) == 1);
  CHECK(after(largest - 1, {largest, 1}) == 2);
}

TEST_CASE("instances: roots that belong to no call are those of the caller of the process") {
  auto o = own();
  o.roots = raw_json::literal(R"({"roots":[{"uri":"file:///configured"}]})");
  pool_rig r(o);
  const auto a = caller("a"), b = caller("b");
  call_scope::done_handler done;
  bool able = true;
  std::string asked;
  a->answer_with([&](const server_question& q, call_scope::done_handler d) {
    asked = q.server + " " + q.method;
    if (able) done = std::move(d);
    return able;
  });
  const auto run = call_scope::of_run("run 1", a);
  r.who_answers(run);
  r.who_answers(b);
  REQUIRE(r.launcher.spawned.size() == 3);
  scripted_process& of_a = *r.launcher.spawned[1];
  const auto ask = [&](std::size_t process, const std::string& id, const std::string& method = "roots/list") {
    r.launcher.spawned[process]->say(R"({"jsonrpc":"2.0","id":")" + id + R"(","method":")" + method + "\"}");
    r.turn();
    return r.launcher.spawned[process]->received.back();
  };
  const std::string configured = R"(,"result":{"roots":[{"uri":"file:///configured"}]}})";
  CHECK(ask(0, "r1").ends_with(configured));
  CHECK(ask(2, "r1").ends_with(configured));
  CHECK(asked.empty());
  CHECK_FALSE(ask(1, "r1").ends_with(configured));
  CHECK(asked == "s roots/list");
  done({call_outcome::kind::result, raw_json::literal(R"({"roots":[]})"), {}});
  r.turn();
  CHECK(of_a.received.back() == R"({"jsonrpc":"2.0","id":"r1","result":{"roots":[]}})");
  ask(1, "r2");
  done(call_outcome::failed(errc::timed_out, "timed out"));
  r.turn();
  CHECK(of_a.received.back().ends_with(configured));
  able = false;
  CHECK(ask(1, "r3").ends_with(configured));
  able = true;
  asked.clear();
  CHECK(contains(ask(1, "e1", "elicitation/create"), R"("id":"e1","error")"));
  CHECK(asked.empty());
  // An answer that comes too late belongs to no later process.
  ask(1, "r4");
  of_a.exit(1);
  r.turn();
  r.time.advance(milliseconds(60'000));
  r.turn();
  r.who_answers(a);
  REQUIRE(r.launcher.spawned.size() == 4);
  const auto before = r.launcher.spawned[3]->received.size();
  done({call_outcome::kind::result, raw_json::literal(R"({"roots":[]})"), {}});
  r.turn();
  CHECK(r.launcher.spawned[3]->received.size() == before);
}

TEST_CASE("instances: logs that belong to no call reach the caller of the instance and nobody else") {
  for (const auto& [sharing, own_account] :
       {std::pair(server_sharing::per_caller, false), std::pair(server_sharing::per_run, false),
        std::pair(server_sharing::per_caller, true)}) {
    supervisor_rig r;
    r.launcher.add("s", [](scripted_process& p) {
      p.on_message = [](scripted_process& self, const message& m) {
        if (m.method() == "initialize")
          self.answer(m,
                      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{}})");
        if (m.method() == "tools/list") self.answer(m, tools_page({tool_definition("echo")}));
        if (m.method() == "server/discover") self.refuse(m, -32601, "Method not found");
        if (m.method() == "tools/call") self.answer(m, text_result("x"));
        if (m.method() == "logging/setLevel" || m.method() == "ping") self.answer(m, "{}");
      };
    });
    auto o = own(sharing);
    if (own_account) o.same_lists = [](const std::string& principal) { return principal.empty(); };
    r.start({std::move(o)});
    const auto a = caller("a"), b = call_scope::of_caller("b", {}, "http");
    const auto run = call_scope::of_run("run 1", a);
    std::vector<std::string> told, subjects;
    const auto watching = [&](const call_scope_ptr& scope, const std::string& who) {
      return r.owner("s__echo")->watch_logs_of(scope, "info", [&, who](const raw_json& p) {
        told.push_back(who + std::string(find_member(p, "data").text()));
        subjects.push_back(r.owner("s__echo")->log_subject());
      });
    };
    const auto call_for = [&](const call_scope_ptr& scope) {
      server_call c;
      c.params = raw_json::literal(R"({"name":"echo"})");
      c.name = "s__echo";
      c.scope = scope;
      c.principal = "server:" + scope->caller()->label();
      r.owner("s__echo")->call(std::move(c));
      r.turn();
    };
    auto of_a = watching(a, "a");
    call_for(run);
    call_for(b);
    const auto of_b = watching(b, "b");
    r.turn();
    REQUIRE(r.launcher.spawned.size() == 3);
    const auto say = [&](std::size_t process, const std::string& data) {
      r.launcher.spawned[process]->say(
          R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":)" + data + "}}");
      r.turn();
    };
    for (std::size_t i = 0; i < 3; ++i) CHECK(r.launcher.spawned[i]->count("logging/setLevel") == 1);
    say(1, "1");
    say(2, "2");
    CHECK(told == std::vector<std::string>{"a1", "b2"});
    say(0, "0");
    CHECK(told.size() == (own_account ? 3 : 4));
    std::vector<std::string> of_whom{"server:a", "server:b", ""};
    if (!own_account) of_whom.emplace_back();
    CHECK(subjects == of_whom);
    of_a.reset();
    say(1, "3");
    CHECK(told.size() == of_whom.size());
  }
}
