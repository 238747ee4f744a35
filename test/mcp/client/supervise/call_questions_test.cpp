// Questions of a legacy server on the way to the callers of its calls.
#include "test/mcp/client/question_recorder.hpp"
#include "test/mcp/client/supervisor_rig.hpp"
#include "test/support/contains.hpp"

#include <algorithm>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;

namespace {

/// A server that answers no tools/call by itself.
struct asking_rig : supervisor_rig {
  asking_rig() { begin(server_named("srv")); }
  explicit asking_rig(server_options o) { begin(std::move(o)); }
  void begin(server_options o) {
    launcher.add("srv", legacy_script({"echo"}, [](scripted_process&, const message& m) {
                   return m.method() == "tools/call" || m.type == message::kind::response;
                 }));
    supervisor->apply(with_processes({std::move(o)}));
    turn();
  }

  struct open_one {
    outcome_box box;
    std::shared_ptr<question_recorder> questions = std::make_shared<question_recorder>();
    client::ticket ticket = 0;
    const void* asker = nullptr;
  };
  void open(open_one& o, std::string principal = "uid:1000", bool answers = true, std::string method = "tools/call") {
    server_call c;
    c.method = std::move(method);
    c.name = "echo";
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.principal = std::move(principal);
    c.asker = o.asker;
    if (answers) c.questions = o.questions;
    c.done = [&o](call_outcome&& out) {
      ++o.box.times;
      o.box.last = std::move(out);
    };
    o.ticket = owner("srv__echo")->call(std::move(c));
    turn();
  }
  void ask(std::string_view id, std::string_view method = "elicitation/create",
           std::string_view params = R"({"message":"m"})") {
    launcher.last().say(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
                        R"(","params":)" + std::string(params) + "}");
    turn();
  }
  std::string last() { return launcher.last().received.back(); }
  /// Answers the call that was sent `back` calls before the last one.
  void answer_call(std::string_view result = R"({"content":[]})") {
    auto m = parse_message(raw_json::own(launcher.last().last("tools/call")));
    REQUIRE(m.has_value());
    launcher.last().answer(*m, result);
    turn();
  }
};

}  // namespace

TEST_CASE("a question of a legacy server goes to the handler of its call, and the answer back byte for byte") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  r.ask(R"("q1")", "sampling/createMessage", R"({"messages":[],"maxTokens":1.0})");
  REQUIRE(o.questions->questions.size() == 1);
  CHECK(o.questions->questions[0].question.server == "srv");
  CHECK(o.questions->questions[0].question.method == "sampling/createMessage");
  CHECK(o.questions->questions[0].question.params.text() == R"({"messages":[],"maxTokens":1.0})");
  o.questions->answer(0, R"({"role":"assistant","n":1.0})");
  r.turn();
  CHECK(r.last() == R"({"jsonrpc":"2.0","id":"q1","result":{"role":"assistant","n":1.0}})");
  r.answer_call();
  CHECK(o.box.answered());
  CHECK_FALSE(o.questions->questions[0].withdrawn);
}

TEST_CASE("progress of an answer reaches the server with the token of its question") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  r.ask("1", "sampling/createMessage", R"({"_meta":{"progressToken":"sp1"}})");
  r.ask("2", "sampling/createMessage", "{}");
  REQUIRE(o.questions->questions.size() == 2);
  CHECK_FALSE(o.questions->questions[1].question.progress);
  const auto progress = o.questions->questions[0].question.progress;
  REQUIRE(progress);
  progress(raw_json::literal(R"({"progressToken":"mine","progress":1.0})"));
  r.turn();
  CHECK(r.last() ==
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"sp1","progress":1.0}})");
  o.questions->answer(0, "{}");
  r.turn();
  progress(raw_json::literal(R"({"progress":2})"));
  r.turn();
  CHECK(contains(r.last(), R"("id":1,"result")"));
}

TEST_CASE("a question may come during any request, and an error of the caller reaches the server as it is") {
  asking_rig r;
  asking_rig::open_one o;
  // The script answers prompts/get with an error of its own only when it is turned, so the question comes first.
  r.launcher.last().on_message = [](scripted_process&, const message&) {};
  r.open(o, "uid:1", true, "prompts/get");
  CHECK(r.launcher.last().count("prompts/get") == 1);
  r.ask("1");
  REQUIRE(o.questions->questions.size() == 1);
  o.questions->refuse(0, R"({"code":-1,"message":"User rejected","data":[1.50]})");
  r.turn();
  CHECK(r.last() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"User rejected","data":[1.50]}})");
}

TEST_CASE("a failure to ask reaches the server as an error with its sentence") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  r.ask("1");
  o.questions->questions.at(0).done(call_outcome::failed(errc::unavailable, "the caller has left"));
  r.turn();
  CHECK(r.last() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the caller has left"}})");
}

TEST_CASE("outside of a call a question is refused with a sentence, and roots/list is answered as configured") {
  SUBCASE("refused") {
    asking_rig r;
    r.ask("1", "elicitation/create");
    CHECK(contains(r.last(), R"("id":1,"error":{"code":-32000)"));
    CHECK(contains(r.last(), "while a call is open"));
  }
  SUBCASE("no roots") {
    asking_rig r;
    r.ask("1", "roots/list", "{}");
    CHECK(r.last() == R"({"jsonrpc":"2.0","id":1,"result":{"roots":[]}})");
  }
  SUBCASE("configured roots") {
    auto o = server_named("srv");
    o.roots = raw_json::literal(R"({"roots":[{"uri":"file:///a"}]})");
    asking_rig r(o);
    r.ask("1", "roots/list", "{}");
    CHECK(r.last() == R"({"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}})");
  }
}

TEST_CASE("a call without a handler has its questions refused, and its roots answered as configured") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o, "uid:1", false);
  r.ask("1");
  CHECK(contains(r.last(), "nobody can be asked"));
  r.ask("2", "roots/list", "{}");
  CHECK(contains(r.last(), R"("result":{"roots":[]})"));
}

TEST_CASE("of several calls of one principal the latest is asked") {
  asking_rig r;
  asking_rig::open_one a, b;
  r.open(a);
  r.open(b);
  r.ask("1");
  CHECK(a.questions->questions.empty());
  CHECK(b.questions->questions.size() == 1);
}

TEST_CASE("of calls of several connections of one principal the latest is asked that can answer") {
  asking_rig r;
  asking_rig::open_one a, b, c;
  for (auto* one : {&a, &b, &c}) one->asker = one;
  b.questions->able = c.questions->able = false;
  for (auto* one : {&a, &b, &c}) r.open(*one);
  r.ask("1");
  CHECK(a.questions->questions.size() == 1);
  // Nobody can: the latest one says so.
  a.questions->able = false;
  r.ask("2");
  CHECK(a.questions->questions.size() == 1);
  CHECK(b.questions->questions.empty());
  CHECK(c.questions->questions.size() == 1);
  // All can.
  for (auto* one : {&a, &b, &c}) one->questions->able = true;
  r.ask("3");
  CHECK(c.questions->questions.size() == 2);
}

TEST_CASE("of several connections of one principal the one is asked whose call is open") {
  asking_rig r;
  asking_rig::open_one a, b;
  a.asker = &a;
  b.asker = &b;
  a.questions->able = false;
  r.open(a);
  r.open(b);
  r.answer_call();
  REQUIRE(b.box.answered());
  r.ask("1");
  CHECK(a.questions->questions.size() == 1);
  CHECK(b.questions->questions.empty());
}

TEST_CASE("a question goes on with the call before if the server answers the latest one first") {
  asking_rig r;
  asking_rig::open_one a, b;
  r.open(a);
  r.open(b);
  r.ask("1");
  REQUIRE(b.questions->questions.size() == 1);
  SUBCASE("of the same principal") {
    r.answer_call();
    CHECK(b.box.answered());
    CHECK(b.questions->questions[0].withdrawn);
    REQUIRE(a.questions->questions.size() == 1);
    CHECK(a.questions->questions[0].question.params.text() == R"({"message":"m"})");
    a.questions->answer(0, R"({"action":"accept"})");
    r.turn();
    CHECK(contains(r.last(), R"("id":1,"result":{"action":"accept"})"));
    CHECK(r.launcher.last().count("") == 1);  // one answer
  }
  SUBCASE("but not with one of another principal that came later") {
    asking_rig::open_one c;
    r.open(c, "uid:2");
    auto m = parse_message(raw_json::own(r.launcher.last().received.at(r.launcher.last().received.size() - 2)));
    REQUIRE(m.has_value());
    r.launcher.last().answer(*m, R"({"content":[]})");
    r.turn();
    CHECK(b.box.answered());
    CHECK(c.questions->questions.empty());
    CHECK(a.questions->questions.size() == 1);
  }
  SUBCASE("but not if nobody waits for the latest one any more") {
    r.owner("srv__echo")->cancel(b.ticket, "enough");
    r.turn();
    CHECK(b.questions->questions[0].withdrawn);
    CHECK(a.questions->questions.empty());
    CHECK(contains(r.last(), R"("id":1,"error")"));
  }
}

TEST_CASE(
    "G13: a question is refused once calls of two principals met since the server was idle, and the mend is named") {
  asking_rig r;
  asking_rig::open_one a, b;
  r.open(a, "uid:1");
  r.open(b, "uid:2");
  r.ask("1");
  CHECK(a.questions->questions.empty());
  CHECK(b.questions->questions.empty());
  CHECK(contains(r.last(), "sharing: \\\"perCaller\\\""));
  // One of them has ended, but the server may still ask on its behalf.
  r.answer_call();
  REQUIRE(b.box.answered());
  r.ask("2");
  CHECK(contains(r.last(), R"("id":2,"error")"));
  CHECK(a.questions->questions.empty());
  // Idle for so long that it has left the cancelled call as well: whoever calls next is the only one again.
  r.owner("srv__echo")->cancel(a.ticket, "enough");
  r.turn();
  r.time.advance(milliseconds(60'000));
  r.turn();
  asking_rig::open_one c;
  r.open(c, "uid:2");
  r.ask("3");
  CHECK(c.questions->questions.size() == 1);
}

TEST_CASE("G13: a question is not passed to a caller as long as the cancelled call of another may still be at work") {
  asking_rig r;
  asking_rig::open_one first, second, third;
  r.open(first, "uid:1");
  r.owner("srv__echo")->cancel(first.ticket, "enough");
  r.turn();
  REQUIRE(first.box.times == 1);
  r.open(second, "uid:2");
  r.ask("1");
  CHECK(second.questions->questions.empty());
  CHECK(contains(r.last(), "several callers have calls at this server"));
  r.answer_call();
  r.time.advance(milliseconds(60'000));
  r.turn();
  r.open(third, "uid:2");
  r.ask("2");
  CHECK(third.questions->questions.size() == 1);
}

TEST_CASE("G13: callers whose principal is not told are not taken for one another") {
  asking_rig r;
  asking_rig::open_one a, b;
  r.open(a, "");
  r.ask("1");
  CHECK(a.questions->questions.size() == 1);
  r.open(b, "");
  r.ask("2");
  CHECK(contains(r.last(), "several callers"));
}

TEST_CASE("a process that belongs to one caller asks it while it starts, before the call has been sent") {
  auto options = server_named("srv");
  options.sharing = server_sharing::per_caller;
  options.roots = raw_json::literal(R"({"roots":[{"uri":"file:///configured"}]})");
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
                   if (m.method() == "notifications/initialized")
                     p.say(R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})");
                   return m.method() == "notifications/initialized" || m.method() == "tools/call" ||
                          m.type == message::kind::response;
                 }));
  r.start({options});
  const auto questions = std::make_shared<question_recorder>();
  server_call c;
  c.params = raw_json::literal(R"({"name":"echo"})");
  c.principal = "uid:1";
  c.scope = call_scope::of_caller("uid:1", "/tmp");
  c.questions = questions;
  r.owner("srv__echo")->call(std::move(c));
  r.turn();
  REQUIRE(questions->questions.size() == 1);
  CHECK(questions->questions[0].question.method == "roots/list");
  questions->answer(0, R"({"roots":[{"uri":"file:///mine"}]})");
  r.turn();
  const auto& heard = r.launcher.last().received;
  CHECK(std::ranges::count_if(heard, [](const auto& text) { return contains(text, "file:///mine"); }) == 1);
  CHECK(std::ranges::count_if(heard, [](const auto& text) { return contains(text, "file:///configured"); }) == 0);
  CHECK(r.launcher.last().count("tools/call") == 1);
}

TEST_CASE("a process that belongs to one caller asks for its latest call, whatever the principals are") {
  auto options = server_named("srv");
  options.sharing = server_sharing::per_caller;
  supervisor_rig r;
  r.launcher.add("srv", legacy_script({"echo"}, [](scripted_process&, const message& m) {
                   return m.method() == "tools/call" || m.type == message::kind::response;
                 }));
  r.start({options});
  const auto scope = call_scope::of_caller("uid:1", "/tmp");
  const auto questions = std::make_shared<question_recorder>();
  for (const auto* principal : {"uid:1", "run:2"}) {
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.principal = principal;
    c.scope = scope;
    c.questions = questions;
    r.owner("srv__echo")->call(std::move(c));
  }
  r.turn();
  REQUIRE(r.launcher.last().count("tools/call") == 2);
  r.launcher.last().say(R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}})");
  r.turn();
  CHECK(questions->questions.size() == 1);
}

TEST_CASE("G16: the end of a call withdraws its questions, and the server is told") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  r.ask("1");
  SUBCASE("by an answer") {
    r.answer_call();
  }
  SUBCASE("by a cancellation") {
    r.owner("srv__echo")->cancel(o.ticket, "enough");
    r.turn();
  }
  CHECK(o.box.times == 1);
  CHECK(o.questions->questions[0].withdrawn);
  CHECK(contains(r.last(), R"("id":1,"error":{"code":-32000)"));
  // An answer that comes late all the same is not sent.
  const auto sent = r.launcher.last().received.size();
  o.questions->answer(0, "{}");
  r.turn();
  CHECK(r.launcher.last().received.size() == sent);
}

TEST_CASE("a question that the server cancels is withdrawn and not answered") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  r.ask("1");
  const auto sent = r.launcher.last().received.size();
  r.launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  r.turn();
  CHECK(o.questions->questions[0].withdrawn);
  o.questions->answer(0, "{}");
  r.turn();
  CHECK(r.launcher.last().received.size() == sent);
  // The id may be used again now.
  r.ask("1");
  CHECK(o.questions->questions.size() == 2);
}

TEST_CASE("G1: the loss of the server withdraws its questions") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  r.ask("1");
  SUBCASE("it exits") {
    r.launcher.last().exit(1);
  }
  SUBCASE("it is restarted") {
    REQUIRE(r.supervisor->restart("srv").has_value());
  }
  r.advance(5'000);
  CHECK(o.box.failed());
  CHECK(o.questions->questions[0].withdrawn);
  // The next process never sees an answer to a question of the one before.
  o.questions->answer(0, "{}");
  r.turn();
  for (const auto& line : r.launcher.last().received) CHECK_FALSE(contains(line, R"("result":{})"));
}

TEST_CASE("time stands still for a call while a question of it is open") {
  auto options = server_named("srv");
  options.limits = {milliseconds(5'000), milliseconds(8'000)};
  asking_rig r(options);
  asking_rig::open_one o;
  r.open(o);
  r.advance(4'000);
  r.ask("1");
  r.ask("2");
  r.advance(60'000);
  CHECK(o.box.times == 0);
  o.questions->answer(0, "{}");
  r.turn();
  r.advance(60'000);
  CHECK(o.box.times == 0);
  o.questions->answer(1, "{}");
  r.turn();
  // 4 s of the hard limit are gone.
  r.advance(3'999);
  CHECK(o.box.times == 0);
  r.advance(1);
  CHECK(o.box.failed());
  CHECK(o.box.last.failure.code == errc::timed_out);
}

TEST_CASE("a question that nobody answers ends after its own limit, and the call goes on") {
  auto options = server_named("srv");
  options.question_timeout = milliseconds(20'000);
  asking_rig r(options);
  asking_rig::open_one o;
  r.open(o);
  r.ask("1");
  r.advance(19'999);
  CHECK_FALSE(o.questions->questions[0].withdrawn);
  r.advance(1);
  CHECK(o.questions->questions[0].withdrawn);
  CHECK(contains(r.last(), R"("id":1,"error":{"code":-32000)"));
  CHECK(o.box.times == 0);
  r.answer_call();
  CHECK(o.box.answered());
}

TEST_CASE("a handler may end the call or the server inside of a question") {
  asking_rig r;
  asking_rig::open_one o;
  r.open(o);
  SUBCASE("cancel") {
    o.questions->on_ask = [&] { r.owner("srv__echo")->cancel(o.ticket, "enough"); };
  }
  SUBCASE("restart") {
    o.questions->on_ask = [&] { CHECK(r.supervisor->restart("srv").has_value()); };
  }
  SUBCASE("stop") {
    o.questions->on_ask = [&] { r.supervisor->stop([] {}, milliseconds(0)); };
  }
  r.ask("1");
  r.advance(5'000);
  CHECK(o.box.times == 1);
  CHECK(o.questions->questions.at(0).withdrawn);
}

TEST_CASE("what becomes of an elicitation by URL reaches the caller that was asked, after its call as well") {
  asking_rig r;
  asking_rig::open_one o;
  std::vector<std::string> notes;
  server_call c;
  c.params = raw_json::literal(R"({"name":"echo"})");
  c.notified = [&](std::string_view method, const raw_json& params) {
    notes.push_back(std::string(method) + " " + std::string(params.text()));
  };
  c.questions = o.questions;
  r.owner("srv__echo")->call(std::move(c));
  r.turn();
  r.ask("1", "elicitation/create", R"({"mode":"url","elicitationId":"e1","url":"https://x/"})");
  const auto complete = [&](std::string_view id) {
    r.launcher.last().say(
        R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":")" +
        std::string(id) + "\"}}");
    r.turn();
  };
  complete("nobody");
  CHECK(notes.empty());
  complete("e1");
  CHECK(notes == std::vector<std::string>{R"(notifications/elicitation/complete {"elicitationId":"e1"})"});
  // The call ends with the demand to visit another URL, and that one is remembered.
  auto m = parse_message(raw_json::own(r.launcher.last().last("tools/call")));
  r.launcher.last().refuse(*m, -32042, "visit", R"({"elicitations":[{"mode":"url","elicitationId":"e2"}]})");
  r.turn();
  complete("e2");
  CHECK(notes.size() == 2);
}
