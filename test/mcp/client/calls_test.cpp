// Calls through the client of one server: waiting, queues, limits, endings.
#include "test/mcp/client/supervisor_rig.hpp"

#include <algorithm>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;
using box = supervisor_rig::outcome_box;

namespace {

/// Leaves tools/call unanswered until the test answers it.
bool keep_calls(scripted_process&, const message& m) {
  return m.method() == "tools/call";
}

void answer_last_call(scripted_process& p, std::string_view result) {
  auto m = parse_message(raw_json::own(p.last("tools/call")));
  REQUIRE(m.has_value());
  p.answer(*m, result);
}

/// The catalog's client of a lazy server, which was up once and has stopped. `second` scripts its next process.
struct sleeping {
  supervisor_rig r;
  std::shared_ptr<client> owner;
  explicit sleeping(script second, int start_timeout = 3000) {
    auto o = server_named("srv");
    o.idle_stop = milliseconds(10);
    o.start_timeout = milliseconds(start_timeout);
    r.launcher.add("srv", legacy_script());
    r.launcher.add("srv", std::move(second));
    r.start({o});
    owner = r.owner("srv__echo");
    r.advance(10);
    r.turn();
    REQUIRE(r.status().state == server_state::lazy);
  }
};

}  // namespace

TEST_CASE("G1: a server that exits in a call gives an error with server and cause and status") {
  supervisor_rig r;
  r.start("git", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            p.say_stderr("fatal: bad object\n");
            p.exit(3);
            return true;
          }));
  box b;
  r.call(*r.owner("git__echo"), b);
  r.turn();
  CHECK(b.failed());
  CHECK(b.last.failure.code == errc::unavailable);
  CHECK(b.text() == "tool server \"git\" exited with status 3 during the call; last stderr: fatal: bad object");
  CHECK(b.last.sent);
}

TEST_CASE("G1: half a line before the exit does not hide the exit") {
  supervisor_rig r;
  r.start("git", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            p.say_bytes("{\"jsonrpc\":\"2.0\",\"id\":" + std::string(m.id.token()) + ",\"result\":{\"cont");
            p.die(SIGABRT);
            return true;
          }));
  box b;
  r.call(*r.owner("git__echo"), b);
  r.turn();
  CHECK(b.text() == "tool server \"git\" was ended by signal 6 (SIGABRT) during the call");
}

TEST_CASE("G1: the last answer before an exit is not lost") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            p.answer(m, text_result("bye"));
            p.exit(0);
            return true;
          }));
  box b;
  r.call(*r.owner("srv__echo"), b);
  r.turn();
  CHECK(b.text() == text_result("bye"));
}

TEST_CASE("G3: a call is never repeated by itself") {
  supervisor_rig r;
  int executed = 0;
  r.start("srv", legacy_script({"echo"}, [&](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            ++executed;
            p.exit(1);
            return true;
          }));
  for (int i = 0; i < 100; ++i) {
    box b;
    r.call(*r.owner("srv__echo"), b);
    r.advance(100'000);
    CHECK(b.failed());
  }
  CHECK(executed == 100);
}

TEST_CASE("G5: a server that closes its stdout and lives on is restarted and its calls fail") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            p.ignores_stdin_end = true;
            p.close_stdout();
            return true;
          }));
  box b;
  r.call(*r.owner("srv__echo"), b);
  r.turn();
  CHECK(b.times == 0);
  r.advance(250);
  CHECK(b.text().find("tool server \"srv\" closed a stream") == 0);
  CHECK(r.launcher.spawned[0]->signals == std::vector<int>{SIGTERM});
  CHECK(r.launcher.count("srv") == 2);
  CHECK(r.status().state == server_state::ready);
}

TEST_CASE("G5: after three time-outs in a row a server is restarted, SIGKILL included, within 10 s") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
                   p.ignores_sigterm = p.ignores_stdin_end = true;
                   return m.method() == "tools/call";
                 }));
  r.launcher.add("srv", legacy_script());
  auto o = server_named("srv");
  o.limits = {milliseconds(5000), milliseconds(10'000)};
  r.start({o});
  const auto owner = r.owner("srv__echo");
  for (int i = 0; i < 3; ++i) {
    box b;
    r.call(*owner, b);
    r.advance(5000);
    CHECK(b.failed());
    CHECK(b.last.failure.code == errc::timed_out);
    CHECK(b.text() == "tool server \"srv\": tools/call echo gave no sign of life for 5 s");
  }
  CHECK(r.launcher.spawned[0]->count("notifications/cancelled") == 3);
  CHECK(r.status().state == server_state::restarting);
  CHECK(r.status().last_error.find("hangs") != std::string::npos);
  r.advance(2000);
  CHECK(r.launcher.spawned[0]->signals == std::vector<int>{SIGTERM, SIGKILL});
  CHECK(r.status().state == server_state::ready);
  CHECK(r.status().suspect);
  box b;
  r.call(*owner, b);
  r.turn();
  CHECK_FALSE(r.status().suspect);
  CHECK(b.answered());
}

TEST_CASE("G5: a server that is stopped is restarted 5 s after the first time-out") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
                   p.ignores_sigterm = p.ignores_stdin_end = true;
                   return m.method() == "tools/call" || m.method() == "ping";
                 }));
  r.launcher.add("srv", legacy_script());
  r.start({server_named("srv")});
  const auto owner = r.owner("srv__echo");
  box first, second;
  r.call(*owner, first);
  r.advance(60'000);
  CHECK(first.failed());
  r.call(*owner, second);
  r.advance(5000);
  CHECK(second.text() ==
        "tool server \"srv\" hangs: after a time-out it gave no sign of life for 5 s; it is being restarted");
  r.advance(2000);
  CHECK(r.launcher.spawned[0]->signals == std::vector<int>{SIGTERM, SIGKILL});
  CHECK(r.status().state == server_state::ready);
}

TEST_CASE("G14: an answer of the wrong shape fails its call at once and names the server") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, keep_calls));
  box shape, malformed;
  r.call(*r.owner("srv__echo"), shape);
  r.turn();
  answer_last_call(r.launcher.last(), R"({"content":"text"})");
  r.turn();
  CHECK(
      shape.text() ==
      "tool server \"srv\" answered with a result of the wrong shape: \"content\" must be an array (tools/call echo)");
  r.call(*r.owner("srv__echo"), malformed);
  r.turn();
  r.launcher.last().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(5) + R"(,"result":{},"error":{}})");
  r.turn();
  CHECK(malformed.failed());
  CHECK(malformed.text().find("tool server \"srv\": tools/call echo was answered against the protocol") == 0);
}

TEST_CASE("an error of the server passes as it came") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            p.refuse(m, -32602, "no such file", R"({"uri":"x"})");
            return true;
          }));
  box b;
  r.call(*r.owner("srv__echo"), b);
  r.turn();
  CHECK(b.last.type == call_outcome::kind::error);
  CHECK(b.text() == R"({"code":-32602,"message":"no such file","data":{"uri":"x"}})");
}

TEST_CASE("G16: a cancelled call ends in the next turn and the server is told") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, keep_calls));
  box b;
  const auto owner = r.owner("srv__echo");
  const auto t = r.call(*owner, b);
  r.turn();
  owner->cancel(t, "the caller left");
  CHECK(b.times == 0);
  r.turn();
  CHECK(b.last.failure.code == errc::cancelled);
  CHECK(b.text() == "tools/call echo was cancelled: the caller left");
  CHECK(r.launcher.last().count("notifications/cancelled") == 1);
  owner->cancel(t, "again");
  owner->cancel(4711, "unknown");
  r.turn();
  CHECK(b.times == 1);
}

TEST_CASE("calls made while a server starts wait for it") {
  sleeping s(legacy_script());
  box b;
  s.r.call(*s.owner, b);
  CHECK(s.r.status().queued_calls == 1);
  s.r.turn();
  CHECK(b.answered());
}

TEST_CASE("calls that wait for a start fail with it and name the cause") {
  sleeping s(legacy_script({"echo"}, [](scripted_process& p, const message& m) {
    if (m.method() != "initialize") return false;
    p.say_stderr("cannot open database\n");
    p.exit(2);
    return true;
  }));
  box b;
  s.r.call(*s.owner, b);
  s.r.turn();
  CHECK(b.text() ==
        "tool server \"srv\" exited with status 2 before it was ready, while it was asked initialize; last stderr: "
        "cannot open "
        "database");
  CHECK_FALSE(b.last.sent);
}

TEST_CASE("calls that wait for a start that takes too long fail when it does") {
  sleeping s(script([](scripted_process&, const message&) {}));
  box b, brief;
  s.r.call(*s.owner, b);
  s.r.call(*s.owner, brief, "{}", call_limits{milliseconds(500), milliseconds(500)});
  s.r.advance(500);
  CHECK(brief.last.failure.code == errc::timed_out);
  CHECK(brief.text() == "tool server \"srv\": tools/call echo waited too long for the server to be ready");
  s.r.advance(2500);
  CHECK(b.failed());
  CHECK(b.text().find("tool server \"srv\" was not ready within 3 s") == 0);
}

TEST_CASE("a waiting call can be cancelled and its limits run from the start of waiting") {
  sleeping s(legacy_script({"echo"}, [held = std::make_shared<int>(0)](scripted_process& p, const message& m) {
    if (m.method() == "tools/call") return true;
    if (m.method() != "tools/list" || (*held)++ > 0) return false;
    p.on_stdin_closed = [] {};
    return true;
  }));
  box cancelled;
  const auto t = s.r.call(*s.owner, cancelled);
  s.owner->cancel(t, "no need");
  s.r.turn();
  CHECK(cancelled.last.failure.code == errc::cancelled);
  CHECK(s.r.status().queued_calls == 0);
  box b;
  s.r.call(*s.owner, b, "{}", call_limits{milliseconds(1000), milliseconds(1000)});
  s.r.advance(600);
  auto& p = s.r.launcher.last();
  auto list = parse_message(raw_json::own(p.last("tools/list")));
  p.answer(*list, tools_page({tool_definition("echo")}));
  s.r.turn();
  CHECK(p.count("tools/call") == 1);
  s.r.advance(399);
  CHECK(b.times == 0);
  s.r.advance(1);
  CHECK(b.last.failure.code == errc::timed_out);
}

TEST_CASE("a call to a server that is down fails at once and says when it is tried again") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script());
  r.launcher.add("srv", scripted_launcher::setup([](scripted_process& p) { p.exit(1); }));
  r.start({server_named("srv")});
  const auto owner = r.owner("srv__echo");
  r.launcher.last().exit(1);
  r.advance(3000);
  REQUIRE(r.status().state == server_state::crash_loop);
  REQUIRE(r.status().next_try_ms > 600);
  box b;
  r.call(*owner, b);
  CHECK(b.times == 0);
  r.turn();
  CHECK(b.failed());
  CHECK(b.text().find("tool server \"srv\" exited with status 1 before it was ready") == 0);
  CHECK(b.text().find("; next start in ") != std::string::npos);
  CHECK(std::chrono::ceil<milliseconds>(owner->next_start() - r.time.now()).count() == r.status().next_try_ms);
}

TEST_CASE("maxConcurrency holds calls back, in order") {
  supervisor_rig r;
  auto o = server_named("srv");
  o.max_concurrency = 2;
  r.launcher.add("srv", legacy_script({"echo"}, keep_calls));
  r.start({o});
  box boxes[5];
  for (int i = 0; i < 5; ++i) r.call(*r.owner("srv__echo"), boxes[i], "{\"name\":\"" + std::to_string(i) + "\"}");
  r.turn();
  auto& p = r.launcher.last();
  CHECK(p.count("tools/call") == 2);
  CHECK(r.status().open_calls == 2);
  CHECK(r.status().queued_calls == 3);
  CHECK(r.supervisor->open_calls() == 5);
  for (int i = 2; i < 5; ++i) {
    answer_last_call(p, text_result("x"));
    r.turn();
    CHECK(find_member(find_member(raw_json::own(p.last("tools/call")), "params"), "name").as_string() ==
          std::to_string(i));
  }
  CHECK(p.count("tools/call") == 5);
}

TEST_CASE("G1: a process that survives SIGKILL gives its calls back, and the next life takes calls") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
                   p.ignores_stdin_end = p.ignores_sigterm = p.ignores_sigkill = true;
                   return m.method() == "tools/call";
                 }));
  r.launcher.add("srv", legacy_script());
  auto o = server_named("srv");
  o.max_concurrency = 1;
  r.start({o});
  const auto owner = r.owner("srv__echo");
  box running, waiting;
  r.call(*owner, running);
  r.call(*owner, waiting);
  r.turn();
  CHECK(r.supervisor->restart("srv"));
  r.advance(6000);
  CHECK(r.launcher.spawned[0]->signals == std::vector<int>{SIGTERM, SIGKILL});
  CHECK(running.failed());
  CHECK(running.text().find("is still there after SIGKILL") != std::string::npos);
  CHECK(waiting.answered());
  CHECK(r.status().state == server_state::ready);
  CHECK(r.supervisor->open_calls() == 0);
  box after;
  r.call(*owner, after);
  r.turn();
  CHECK(after.answered());
}

TEST_CASE("G20: a call of a process that survives SIGKILL is answered when the daemon stops") {
  supervisor_rig r;
  r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
            p.ignores_stdin_end = p.ignores_sigterm = p.ignores_sigkill = true;
            return m.method() == "tools/call";
          }));
  box b;
  r.call(*r.owner("srv__echo"), b);
  r.turn();
  int stopped = 0;
  r.supervisor->stop([&] { ++stopped; });
  r.advance(10'000);
  CHECK(stopped == 1);
  CHECK(b.failed());
}

TEST_CASE("a server that does not read fails calls beyond 1024 requests at once and is restarted after 30 s") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script());
  r.launcher.add("srv", legacy_script());
  r.start({server_named("srv")});
  const auto owner = r.owner("srv__echo");
  auto& deaf = r.launcher.last();
  deaf.reads = false;
  std::vector<box> boxes(1030);
  for (auto& b : boxes) r.call(*owner, b);
  r.turn();
  int failed = 0;
  for (const auto& b : boxes) failed += b.times;
  CHECK(failed == 6);
  CHECK(boxes.back().last.failure.code == errc::limit);
  CHECK(boxes.back().text().find("tool server \"srv\" takes its requests too slowly") == 0);
  r.advance(29'999);
  CHECK(r.launcher.count("srv") == 1);
  r.advance(1);
  CHECK(boxes[0].text().find("tool server \"srv\" has read nothing for 30 s") == 0);
  r.turn();
  CHECK(r.launcher.count("srv") == 2);
  for (const auto& b : boxes) CHECK(b.times == 1);
}

TEST_CASE("G18: a caller that fills a server's queue keeps its neighbours' shares free") {
  supervisor_rig r;
  r.start("srv", legacy_script());
  const auto owner = r.owner("srv__echo");
  r.launcher.last().reads = false;
  const int busy = 0, other = 0, third = 0;
  const auto refused_of = [&](std::vector<box>& boxes, const void* asker) {
    for (auto& b : boxes) r.call(*owner, b, R"({"name":"echo"})", {}, asker);
    r.turn();
    return std::ranges::count_if(boxes, [](const auto& b) { return b.times == 1; });
  };
  std::vector<box> flood(2000), more(600), few(400), again(10);
  CHECK(refused_of(flood, &busy) == 2000 - 1024);
  CHECK(refused_of(more, &other) == 600 - 512);
  CHECK(refused_of(few, &third) == 400 - 341);
  CHECK(refused_of(again, &busy) == 10);
  CHECK(again.front().last.failure.code == errc::limit);
  r.launcher.last().read_again();
  r.turn();
  CHECK(more.front().answered());
  CHECK(few.front().answered());
  for (auto* boxes : {&flood, &more, &few})
    for (const auto& b : *boxes) CHECK(b.times == 1);
}

TEST_CASE("G18: calls that wait for a serial server are shared out too, by number and by size") {
  supervisor_rig r;
  auto o = server_named("srv");
  o.max_concurrency = 1;
  r.launcher.add("srv", legacy_script({"echo"}, keep_calls));
  r.start({o});
  const auto owner = r.owner("srv__echo");
  const int busy = 0, other = 0;
  const auto large = [](int mib) {
    return "{\"name\":\"echo\",\"arguments\":{\"a\":\"" + std::string(std::size_t(mib) << 20, 'x') + "\"}}";
  };
  box open, filling, refused, small, half, over;
  r.call(*owner, open, R"({"name":"echo"})", {}, &busy);
  r.turn();
  r.call(*owner, filling, large(16), {}, &busy);
  r.call(*owner, refused, R"({"name":"echo"})", {}, &busy);
  r.call(*owner, small, R"({"name":"echo"})", {}, &other);
  r.call(*owner, half, large(7), {}, &other);
  r.call(*owner, over, large(2), {}, &other);
  r.turn();
  CHECK(refused.failed());
  CHECK(small.times == 0);
  CHECK(half.times == 0);
  CHECK(over.failed());
  auto& p = r.launcher.last();
  for (const auto* b : {&open, &filling, &small, &half}) {
    answer_last_call(p, text_result("x"));
    r.turn();
    CHECK(b->answered());
  }
}

TEST_CASE("the queue is bounded in bytes, and one large message always enters an empty one") {
  supervisor_rig r;
  r.start("srv", legacy_script());
  const auto owner = r.owner("srv__echo");
  r.launcher.last().reads = false;
  const auto large = "{\"name\":\"echo\",\"arguments\":{\"a\":\"" + std::string(std::size_t{17} << 20, 'x') + "\"}}";
  box first, second;
  r.call(*owner, first, large);
  r.call(*owner, second);
  r.turn();
  CHECK(first.times == 0);
  CHECK(second.failed());
  CHECK(second.last.failure.code == errc::limit);
  r.launcher.last().read_again();
  r.turn();
  CHECK(first.answered());
}

TEST_CASE("a handler may call again from inside its own outcome") {
  supervisor_rig r;
  r.start("srv", legacy_script());
  const auto owner = r.owner("srv__echo");
  int rounds = 0;
  std::function<void()> next = [&] {
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.name = "echo";
    c.done = [&](const call_outcome& o) {
      CHECK(o.type == call_outcome::kind::result);
      if (++rounds < 1000) next();
    };
    owner->call(std::move(c));
  };
  next();
  r.turn();
  CHECK(rounds == 1000);
}

TEST_CASE("params that cannot be edited fail the call, not the server") {
  supervisor_rig r;
  r.start("srv", modern_script());
  box b;
  r.call(*r.owner("srv__echo"), b, R"({"name":"echo","_meta":{},"_meta":{}})");
  r.turn();
  CHECK(b.failed());
  CHECK(b.last.failure.code == errc::invalid_argument);
  CHECK(b.text().find("duplicate member") != std::string::npos);
  CHECK(r.status().state == server_state::ready);
  CHECK(r.supervisor->open_calls() == 0);
}

TEST_CASE("a modern server is told who calls") {
  supervisor_rig r;
  r.start("srv", modern_script());
  server_call c;
  std::string able = R"({"extensions":{"x/y":{}}})";
  c.params = raw_json::literal(R"({"name":"echo"})");
  c.caller.client_info = raw_json::literal(R"({"name":"host","version":"9"})");
  c.caller.capabilities = raw_json::literal(R"({"roots":{},"extensions":{"x/y":{}}})");
  SUBCASE("and what it can do, if questions reach it") {
    c.takes_input_required = true;
    able = R"({"roots":{},"extensions":{"x/y":{}}})";
  }
  SUBCASE("and not to ask, if questions do not") {}
  int done = 0;
  c.done = [&](const call_outcome&) { ++done; };
  r.owner("srv__echo")->call(std::move(c));
  r.turn();
  CHECK(done == 1);
  const auto meta = find_member(find_member(raw_json::own(r.launcher.last().last("tools/call")), "params"), "_meta");
  CHECK(find_member(meta, "io.modelcontextprotocol/clientInfo").text() == R"({"name":"host","version":"9"})");
  CHECK(find_member(meta, "io.modelcontextprotocol/clientCapabilities").text() == able);
}

TEST_CASE("G49: a server is suspect from its first time-out until a call is answered, or it is restarted") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, keep_calls));
  r.start({server_named("srv")});
  const auto owner = r.owner("srv__echo");
  const call_limits short_limits{milliseconds(100), milliseconds(100)};
  const auto time_out = [&] {
    box b;
    r.call(*owner, b, R"({"name":"echo"})", short_limits);
    r.turn();
    r.advance(100);
    REQUIRE(b.failed());
    CHECK(r.status().last_error == b.text());
    CHECK(r.status().suspect);
  };
  CHECK_FALSE(r.status().suspect);
  time_out();
  CHECK(r.status().state == server_state::ready);
  box b;
  r.call(*owner, b);
  r.turn();
  answer_last_call(*r.launcher.spawned[0], R"({"content":[]})");
  r.turn();
  REQUIRE(b.answered());
  CHECK_FALSE(r.status().suspect);
  time_out();
  REQUIRE(r.supervisor->restart("srv").has_value());
  CHECK_FALSE(r.status().suspect);
}

TEST_CASE(
    "L8 L12: at a serial server calls run in order, and waiting for a turn is not counted against a call's limits") {
  supervisor_rig r;
  auto o = server_named("srv");
  o.max_concurrency = 1;
  o.limits = {milliseconds(1000), milliseconds(1500)};
  r.launcher.add("srv", legacy_script({"echo"}, keep_calls));
  r.start({o});
  CHECK(r.supervisor->snapshot()->find("srv__echo")->manner.serial);
  box boxes[3];
  for (int i = 0; i < 3; ++i) r.call(*r.owner("srv__echo"), boxes[i], "{\"name\":\"" + std::to_string(i) + "\"}");
  r.turn();
  auto& p = r.launcher.last();
  for (int i = 0; i < 2; ++i) {
    CHECK(p.count("tools/call") == static_cast<std::size_t>(i + 1));
    CHECK(find_member(find_member(raw_json::own(p.last("tools/call")), "params"), "name").as_string() ==
          std::to_string(i));
    r.advance(700);
    answer_last_call(p, text_result("x"));
    r.turn();
    CHECK(boxes[i].answered());
  }
  // The third call has waited 1.4 s, more than the 1 s that it may be silent; now it has all of that second.
  CHECK(p.count("tools/call") == 3);
  r.advance(999);
  CHECK(boxes[2].times == 0);
  r.advance(1);
  CHECK(boxes[2].failed());
  CHECK(boxes[2].text() == "tool server \"srv\": tools/call echo gave no sign of life for 1 s");
}

TEST_CASE("L8: waiting for a turn ends at the server's hard limit") {
  supervisor_rig r;
  auto o = server_named("srv");
  o.max_concurrency = 1;
  o.limits = {milliseconds(1000), milliseconds(1500)};
  r.launcher.add("srv", legacy_script({"echo"}, keep_calls));
  r.start({o});
  box first, second;
  r.call(*r.owner("srv__echo"), first, R"({"name":"slow"})", call_limits{milliseconds(5000), milliseconds(5000)});
  r.call(*r.owner("srv__echo"), second);
  r.advance(1499);
  CHECK(second.times == 0);
  r.advance(1);
  CHECK(second.last.failure.code == errc::timed_out);
  CHECK(second.text() == "tool server \"srv\": tools/call echo waited too long for other calls to end");
  CHECK(first.times == 0);
}

TEST_CASE(
    "L20: a server's log goes to the one call that is open there, or to the latest of one asker, else to nobody") {
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, keep_calls));
  r.start({server_named("srv")});
  const auto owner = r.owner("srv__echo");
  std::vector<std::string> heard;
  const auto ask = [&](std::string name, const void* asker, bool listens = true) {
    server_call s;
    s.params = raw_json::literal(R"({"name":"echo"})");
    s.name = "echo";
    s.asker = asker;
    if (listens)
      s.log = [&heard, name](const raw_json& params) {
        heard.push_back(name + " " + std::string(find_member(params, "data").text()));
      };
    const auto t = owner->call(std::move(s));
    r.turn();
    return t;
  };
  const auto log = [&](std::string_view data) {
    r.launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":)" +
                          std::string(data) + "}}");
    r.turn();
  };
  const int one = 1, two = 2;
  log("0");
  const auto first = ask("first", &one);
  log("1");
  const auto second = ask("second", &one);
  log("2");
  const auto third = ask("third", &two);
  log("3");  // two askers: the log may belong to either
  owner->cancel(third, "enough");
  r.turn();
  const auto direct = ask("direct", nullptr, false);
  log("4");
  owner->cancel(first, "enough");
  owner->cancel(second, "enough");
  r.turn();
  log("5");  // the one open call takes no logs
  owner->cancel(direct, "enough");
  r.turn();
  CHECK(heard == std::vector<std::string>{"first 1", "second 2"});
}
