// Tasks of a legacy server: those that callers ask for, and those that are run to their end here.
#include "test/mcp/client/question_recorder.hpp"
#include "test/mcp/client/supervisor_rig.hpp"
#include "test/support/contains.hpp"

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;

namespace {

/// Outlives the supervisor that reports to it.
struct other_call {
  supervisor_rig::outcome_box other;
};

/// A server with the tool "slow", which runs as a task only. The test answers what it asks of tasks.
struct tasks_rig : other_call, supervisor_rig {
  explicit tasks_rig(server_options o = server_named("srv")) {
    launcher.add("srv", [](scripted_process& p) {
      p.on_message = [](scripted_process& self, const message& m) {
        if (m.method() == "initialize")
          self.answer(m, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":)"
                         R"({"call":{}}}}},"serverInfo":{}})");
        if (m.method() == "tools/list")
          self.answer(m, tools_page({tool_definition("slow", R"(,"execution":{"taskSupport":"required"})"),
                                     tool_definition("quick")}));
        if (m.method() == "server/discover") self.refuse(m, -32601, "Method not found");
        if (m.method() == "ping") self.answer(m, "{}");
      };
    });
    supervisor->apply(with_processes({std::move(o)}));
    turn();
  }
  outcome_box box;
  std::shared_ptr<question_recorder> questions = std::make_shared<question_recorder>();
  std::vector<std::string> progress, notes;
  client::ticket ticket = 0;

  void call(std::string_view params = R"({"name":"slow","arguments":{"n":1.0}})", bool asks_progress = false) {
    server_call c;
    c.name = "slow";
    c.params = raw_json::own(params);
    c.questions = questions;
    c.principal = "uid:1";
    if (asks_progress) c.progress = [this](const raw_json& p) { progress.emplace_back(p.text()); };
    c.notified = [this](std::string_view method, const raw_json&) { notes.emplace_back(method); };
    c.done = [this](call_outcome&& o) {
      ++box.times;
      box.last = std::move(o);
    };
    ticket = owner("srv__slow")->call(std::move(c));
    turn();
  }
  scripted_process& server() { return *launcher.spawned[0]; }
  int count(std::string_view method) { return server().count(method); }
  message last(std::string_view method) {
    auto m = parse_message(raw_json::own(server().last(method)));
    REQUIRE(m.has_value());
    return std::move(*m);
  }
  void answer(std::string_view method, std::string_view result) {
    server().answer(last(method), result);
    turn();
  }
  void create(std::string_view more = R"(,"pollInterval":1000)") {
    answer("tools/call", R"({"task":{"taskId":"t1","status":"working")" + std::string(more) + "}}");
  }
  void state(std::string_view status, std::string_view more = R"(,"pollInterval":1000)") {
    answer("tasks/get", R"({"taskId":"t1","status":")" + std::string(status) + "\"" + std::string(more) + "}");
  }
};

}  // namespace

TEST_CASE("a tool that runs as a task only is run to its end for a caller that asks for no task") {
  tasks_rig r;
  r.call();
  const auto sent = r.last("tools/call");
  CHECK(find_member(sent.params, "arguments").text() == R"({"n":1.0})");
  CHECK(find_member(find_member(sent.params, "task"), "ttl").as_integer() == 1'200'000);
  r.create();
  r.advance(999);
  CHECK(r.count("tasks/get") == 0);
  r.advance(1);
  REQUIRE(r.count("tasks/get") == 1);
  CHECK(find_member(r.last("tasks/get").params, "taskId").text() == "\"t1\"");
  r.state("working", R"(,"pollInterval":5000)");
  r.advance(4'999);
  CHECK(r.count("tasks/get") == 1);
  r.advance(1);
  REQUIRE(r.count("tasks/get") == 2);
  r.state("completed");
  REQUIRE(r.count("tasks/result") == 1);
  CHECK(r.box.times == 0);
  r.answer("tasks/result", R"({"content":[{"type":"text","text":"done"}],"_meta":{"x":1.0}})");
  CHECK(r.box.text() == R"({"content":[{"type":"text","text":"done"}],"_meta":{"x":1.0}})");
  CHECK(r.box.answered());
  r.advance(60'000);
  CHECK(r.count("tasks/get") == 2);
  CHECK(r.supervisor->open_calls() == 0);
  CHECK(r.count("tasks/cancel") == 0);
}

TEST_CASE("a caller that asks for a task gets it, and hears of its state after the call") {
  tasks_rig r;
  r.call(R"({"name":"slow","task":{"ttl":5}})");
  CHECK(find_member(r.last("tools/call").params, "task").text() == R"({"ttl":5})");
  r.create();
  CHECK(r.box.answered());
  CHECK(contains(r.box.text(), R"("taskId":"t1")"));
  r.advance(60'000);
  CHECK(r.count("tasks/get") == 0);
  r.server().say(R"({"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t2"}})");
  r.turn();
  CHECK(r.notes.empty());
  r.server().say(R"({"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1"}})");
  r.turn();
  CHECK(r.notes == std::vector<std::string>{"notifications/tasks/status"});
}

TEST_CASE("other tools are called without a task, and a task that nobody asked for is a wrong result") {
  tasks_rig r;
  r.call(R"({"name":"quick"})");
  CHECK_FALSE(find_member(r.last("tools/call").params, "task"));
  r.create();
  CHECK(r.box.failed());
  CHECK(contains(r.box.text(), "wrong shape"));
}

TEST_CASE("a task may answer an error, or be gone, or tell a state that does not exist") {
  tasks_rig r;
  r.call();
  r.create();
  r.advance(1'000);
  SUBCASE("an error as its result") {
    r.state("failed");
    r.server().refuse(r.last("tasks/result"), -32603, "it broke");
    r.turn();
    CHECK(r.box.last.type == call_outcome::kind::error);
    CHECK(contains(r.box.text(), "it broke"));
  }
  SUBCASE("gone") {
    r.server().refuse(r.last("tasks/get"), -32602, "no such task");
    r.turn();
    CHECK(contains(r.box.text(), "no such task"));
    CHECK(r.count("tasks/cancel") == 0);
  }
  SUBCASE("an unknown state") {
    r.state("pending");
    CHECK(r.box.failed());
    CHECK(contains(r.box.text(), "unknown state of a task: \"pending\""));
    CHECK(r.count("tasks/cancel") == 1);
  }
  CHECK(r.box.times == 1);
  CHECK(r.supervisor->open_calls() == 0);
}

TEST_CASE("a task without an id is a wrong result, and one that has ended at once is fetched") {
  tasks_rig r;
  r.call();
  SUBCASE("no id") {
    r.answer("tools/call", R"({"task":{"status":"working"}})");
    CHECK(r.box.failed());
    CHECK(contains(r.box.text(), "without a usable taskId"));
  }
  SUBCASE("no task at all but a result") {
    r.answer("tools/call", R"({"content":[]})");
    CHECK(r.box.answered());
  }
  SUBCASE("ended") {
    r.answer("tools/call", R"({"task":{"taskId":"t1","status":"completed"}})");
    r.answer("tasks/result", R"({"content":[]})");
    CHECK(r.box.answered());
    CHECK(r.count("tasks/get") == 0);
  }
}

TEST_CASE("a cancelled call cancels its task") {
  tasks_rig r;
  r.call();
  r.create();
  SUBCASE("between two looks") {}
  SUBCASE("in a look") {
    r.advance(1'000);
  }
  SUBCASE("while its result is fetched") {
    r.advance(1'000);
    r.state("completed");
  }
  r.owner("srv__slow")->cancel(r.ticket, "enough");
  CHECK(r.box.times == 0);
  r.turn();
  CHECK(r.box.failed());
  CHECK(r.box.last.failure.code == errc::cancelled);
  CHECK(contains(r.box.text(), "tools/call slow was cancelled: enough"));
  REQUIRE(r.count("tasks/cancel") == 1);
  CHECK(find_member(r.last("tasks/cancel").params, "taskId").text() == "\"t1\"");
  r.advance(60'000);
  CHECK(r.box.times == 1);
  CHECK(r.supervisor->open_calls() == 0);
}

TEST_CASE("a task whose id comes after the end of its call is cancelled once") {
  tasks_rig r;
  r.call();
  SUBCASE("its caller has cancelled it") {
    r.owner("srv__slow")->cancel(r.ticket, "enough");
  }
  SUBCASE("its time is over") {
    r.advance(4'000'000);
  }
  r.turn();
  CHECK(r.box.failed());
  REQUIRE(r.launcher.spawned.size() == 1);
  CHECK(r.count("tasks/cancel") == 0);
  r.create();
  CHECK(r.count("tasks/cancel") == 1);
  CHECK(find_member(r.last("tasks/cancel").params, "taskId").text() == "\"t1\"");
  r.create();
  CHECK(r.count("tasks/cancel") == 1);
}

TEST_CASE("a task that has ended when its id comes late is left alone") {
  tasks_rig r;
  r.call();
  r.owner("srv__slow")->cancel(r.ticket, "enough");
  r.turn();
  r.answer("tools/call", R"({"task":{"taskId":"t1","status":"completed"}})");
  CHECK(r.count("tasks/cancel") == 0);
}

TEST_CASE("the time of a task is bounded, and its end costs no turn more than others") {
  auto o = server_named("srv");
  o.limits = {milliseconds(5'000), milliseconds(20'000)};
  tasks_rig r(o);
  r.call();
  r.create();
  // It goes on as long as it says so: longer than the idle limit.
  for (int i = 0; i < 19; ++i) {
    r.advance(1'000);
    REQUIRE(r.box.times == 0);
    r.state("working");
  }
  REQUIRE(r.box.times == 0);
  SUBCASE("alone") {}
  SUBCASE("while another call needs the server") {
    r.supervisor_rig::call(*r.owner("srv__quick"), r.other, R"({"name":"quick"})");
    r.turn();
    // manual_time throws if a timer is armed in the past again and again.
    r.advance(1'000);
    CHECK(r.box.failed());
    CHECK(r.other.times == 0);
  }
  r.advance(1'000);
  CHECK(r.box.failed());
  CHECK(r.box.last.failure.code == errc::timed_out);
  CHECK(contains(r.box.text(), "its task still runs"));
  CHECK(r.count("tasks/cancel") == 1);
  CHECK(r.status().state == server_state::ready);
}

TEST_CASE("a task that is looked at for long does not make its server seem to hang") {
  auto o = server_named("srv");
  o.limits = {milliseconds(5'000), milliseconds(3'600'000)};
  tasks_rig r(o);
  r.call();
  r.create();
  for (int i = 0; i < 600; ++i) {
    r.advance(1'000);
    REQUIRE(r.count("tasks/get") == i + 1);
    r.state("working");
  }
  CHECK(r.box.times == 0);
  CHECK(r.status().state == server_state::ready);
  CHECK_FALSE(r.status().suspect);
  CHECK(r.status().restarts == 0);
}

TEST_CASE("a look at a task that is not answered ends the call with the idle limit") {
  auto o = server_named("srv");
  o.limits = {milliseconds(5'000), milliseconds(600'000)};
  tasks_rig r(o);
  r.call();
  r.create();
  r.advance(1'000);
  r.advance(4'999);
  CHECK(r.box.times == 0);
  r.advance(1);
  CHECK(r.box.failed());
  CHECK(r.box.last.failure.code == errc::timed_out);
}

TEST_CASE("a task that has ended must give its result within the idle limit") {
  auto o = server_named("srv");
  o.limits = {milliseconds(5'000), milliseconds(600'000)};
  tasks_rig r(o);
  r.call();
  r.create();
  r.advance(1'000);
  r.state("completed");
  r.advance(5'000);
  CHECK(r.box.failed());
  CHECK(contains(r.box.text(), "gives no result"));
}

TEST_CASE("a task that needs input has its result fetched ahead, and its questions reach the caller") {
  auto o = server_named("srv");
  o.limits = {milliseconds(5'000), milliseconds(20'000)};
  tasks_rig r(o);
  r.call();
  r.create();
  r.advance(1'000);
  r.state("input_required");
  CHECK(r.count("tasks/result") == 1);
  r.server().say(
      R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}})");
  r.turn();
  REQUIRE(r.questions->questions.size() == 1);
  // Looks go on while the caller thinks, for longer than the limits.
  for (int i = 0; i < 60; ++i) {
    r.advance(1'000);
    r.state("input_required");
  }
  CHECK(r.box.times == 0);
  CHECK(r.count("tasks/result") == 1);
  r.questions->answer(0, R"({"action":"decline"})");
  r.turn();
  r.advance(1'000);
  r.state("working");
  r.advance(1'000);
  r.state("completed");
  CHECK(r.count("tasks/result") == 1);
  r.answer("tasks/result", R"({"content":[]})");
  CHECK(r.box.answered());
}

TEST_CASE("a question that names a task belongs to the call of that task even if several callers have calls") {
  tasks_rig r;
  r.call();
  r.create();
  r.supervisor_rig::call(*r.owner("srv__quick"), r.other, R"({"name":"quick"})");
  r.turn();
  r.server().say(R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}})");
  r.turn();
  CHECK(r.questions->questions.empty());
  r.server().say(
      R"({"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}})");
  r.turn();
  CHECK(r.questions->questions.size() == 1);
  r.owner("srv__slow")->cancel(r.ticket, "enough");
  r.turn();
}

TEST_CASE("progress of a task reaches the caller under the token of the call") {
  tasks_rig r;
  r.call(R"({"name":"slow"})", true);
  const auto token = find_member(find_member(r.last("tools/call").params, "_meta"), "progressToken");
  r.create();
  r.server().say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2.50,"progressToken":)" +
                 std::string(token.text()) + "}}");
  r.turn();
  REQUIRE(r.progress.size() == 1);
  CHECK(contains(r.progress[0], R"("progress":2.50)"));
}

TEST_CASE("the end of the server ends a task that it runs") {
  tasks_rig r;
  r.call();
  r.create();
  SUBCASE("exit between two looks") {
    r.server().exit(3);
  }
  SUBCASE("exit in a look") {
    r.advance(1'000);
    r.server().exit(3);
  }
  SUBCASE("closed stdout") {
    r.server().close_stdout();
  }
  SUBCASE("stop") {
    r.supervisor->stop([] {}, milliseconds(0));
  }
  r.advance(500);
  CHECK(r.box.failed());
  r.advance(60'000);
  CHECK(r.box.times == 1);
  CHECK(r.supervisor->open_calls() == 0);
}

TEST_CASE("a task that ends while a question of it is open has its whole time for its result") {
  auto o = server_named("srv");
  o.limits = {milliseconds(5'000), milliseconds(600'000)};
  tasks_rig r(o);
  r.call();
  r.create();
  r.advance(1'000);
  r.server().say(
      R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}})");
  r.turn();
  REQUIRE(r.questions->questions.size() == 1);
  r.state("completed");
  REQUIRE(r.count("tasks/result") == 1);
  r.advance(60'000);
  CHECK(r.box.times == 0);
  r.questions->answer(0, R"({"action":"decline"})");
  r.turn();
  r.advance(4'000);
  CHECK(r.box.times == 0);
  SUBCASE("which comes") {
    r.answer("tasks/result", R"({"content":[]})");
    CHECK(r.box.answered());
  }
  SUBCASE("which does not come") {
    r.advance(1'000);
    CHECK(contains(r.box.text(), "has ended its task and gives no result"));
  }
}

TEST_CASE("G13: while a task of another one is at work a question that names none goes to nobody") {
  tasks_rig r;
  r.call(R"({"name":"slow","task":{"ttl":500000}})");
  r.create();
  REQUIRE(r.box.times == 1);
  const auto others = std::make_shared<question_recorder>();
  box ended;
  const auto call_of_another = [&] {
    server_call c;
    c.name = "quick";
    c.params = raw_json::literal(R"({"name":"quick"})");
    c.questions = others;
    c.principal = "uid:2";
    c.done = [&](call_outcome&&) { ++ended.times; };
    r.owner("srv__quick")->call(std::move(c));
    r.turn();
  };
  int id = 0;
  const auto asks = [&] {
    const auto before = others->questions.size();
    r.server().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(++id) +
                   R"(,"method":"elicitation/create","params":{"message":"m"}})");
    r.turn();
    return others->questions.size() > before;
  };
  const auto answer_call = [&] {
    const auto times = ended.times;
    r.answer("tools/call", R"({"content":[]})");
    CHECK(ended.times == times + 1);
  };
  call_of_another();
  CHECK_FALSE(asks());
  CHECK(contains(r.server().received.back(), "perCaller"));
  answer_call();
  SUBCASE("until the server says that it has ended") {
    r.server().say(
        R"({"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"completed"}})");
    r.turn();
  }
  SUBCASE("until its caller has heard that it has ended") {
    server_call c;
    c.method = "tasks/get";
    c.params = raw_json::literal(R"({"taskId":"t1"})");
    c.principal = "uid:1";
    c.done = [](call_outcome&&) {};
    r.owner("srv__quick")->call(std::move(c));
    r.turn();
    r.answer("tasks/get", R"({"taskId":"t1","status":"cancelled"})");
  }
  SUBCASE("until nobody has heard of it for an hour") {
    r.advance(3'600'001);
  }
  call_of_another();
  CHECK(asks());
}

TEST_CASE("G13: what a server asks about a task goes to the principal whose call made it and to nobody else") {
  tasks_rig r;
  r.call(R"({"name":"slow","task":{"ttl":5}})");
  r.create();
  REQUIRE(r.box.times == 1);
  const auto others = std::make_shared<question_recorder>();
  server_call c;
  c.name = "quick";
  c.params = raw_json::literal(R"({"name":"quick"})");
  c.questions = others;
  c.principal = "uid:2";
  c.done = [](call_outcome&&) {};
  r.owner("srv__quick")->call(std::move(c));
  r.turn();
  const auto ask = [&](std::string_view id, std::string_view task) {
    r.server().say(R"({"jsonrpc":"2.0","id":)" + std::string(id) +
                   R"(,"method":"elicitation/create","params":{"message":"m","_meta":)"
                   R"({"io.modelcontextprotocol/related-task":{"taskId":")" +
                   std::string(task) + R"("}}}})");
    r.turn();
  };
  ask("1", "t1");
  CHECK(others->questions.empty());
  CHECK(r.questions->questions.empty());
  CHECK(contains(r.server().received.back(), R"("id":1,"error")"));
  // The owner waits for its task beside the other one.
  r.call(R"({"name":"slow","task":{"ttl":6}})");
  ask("2", "t1");
  CHECK(others->questions.empty());
  CHECK(r.questions->questions.size() == 1);
  ask("3", "another");
  CHECK(contains(r.server().received.back(), R"("id":3,"error")"));
  CHECK(contains(r.server().received.back(), "several callers"));
}
