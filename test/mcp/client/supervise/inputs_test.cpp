// Calls at a modern server that asks for input: questions to the call's handler, rounds, bounds.
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

constexpr std::string_view two_inputs =
    R"({"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"message":"Who?"}},"r":{"method":"roots/list"}},"requestState":"s\u00e9\/1"})";

struct inputs_rig : supervisor_rig {
  explicit inputs_rig(server_options o = server_named("srv")) {
    launcher.add("srv", modern_script({"echo"}, [](scripted_process&, const message& m) {
                   return m.method() == "tools/call" || m.method() == "prompts/get";
                 }));
    supervisor->apply(with_processes({std::move(o)}));
    turn();
  }
  outcome_box box;
  std::shared_ptr<question_recorder> questions = std::make_shared<question_recorder>();
  client::ticket ticket = 0;

  void call(std::string_view method = "tools/call", bool whole = false, bool answers = true) {
    server_call c;
    c.method = method;
    c.name = "echo";
    c.params = raw_json::literal(R"({"name":"echo","arguments":{"n":1.0}})");
    c.caller.capabilities = raw_json::literal(R"({"elicitation":{}})");
    c.takes_input_required = whole;
    if (answers) c.questions = questions;
    c.done = [this](call_outcome&& o) {
      ++box.times;
      box.last = std::move(o);
    };
    ticket = owner("srv__echo")->call(std::move(c));
    turn();
  }
  message sent(std::string_view method = "tools/call") {
    auto m = parse_message(raw_json::own(launcher.last().last(method)));
    REQUIRE(m.has_value());
    return std::move(*m);
  }
  void reply(std::string_view result, std::string_view method = "tools/call") {
    launcher.last().answer(sent(method), result);
    turn();
  }
  void answer(std::size_t i, std::string_view result) {
    questions->answer(i, result);
    turn();
  }
  std::string param(std::string_view key) { return std::string(find_member(sent().params, key).text()); }
};

}  // namespace

TEST_CASE("inputs of a modern server are asked together, and the call is repeated with the answers") {
  inputs_rig r;
  r.call();
  const auto first = std::string(r.sent().id.token());
  r.reply(two_inputs);
  REQUIRE(r.questions->questions.size() == 2);
  CHECK(r.questions->questions[0].question.method == "elicitation/create");
  CHECK(r.questions->questions[0].question.params.text() == R"({"message":"Who?"})");
  CHECK(r.questions->questions[1].question.method == "roots/list");
  CHECK(r.box.times == 0);
  r.answer(1, R"({"roots":[]})");
  CHECK(r.launcher.last().count("tools/call") == 1);
  r.answer(0, R"({"action":"accept","content":{"n":1.50}})");
  REQUIRE(r.launcher.last().count("tools/call") == 2);
  CHECK(r.sent().id.token() != first);
  CHECK(r.param("arguments") == R"({"n":1.0})");
  CHECK(r.param("inputResponses") == R"({"name":{"action":"accept","content":{"n":1.50}},"r":{"roots":[]}})");
  CHECK(r.param("requestState") == R"("s\u00e9\/1")");
  CHECK(find_member(find_member(r.sent().params, "_meta"), "io.modelcontextprotocol/clientCapabilities").text() ==
        R"({"elicitation":{}})");
  r.reply(R"({"resultType":"complete","content":[]})");
  CHECK(r.box.answered());
}

TEST_CASE("a request for input without a state is repeated without one, and a state alone at once") {
  inputs_rig r;
  r.call();
  r.reply(two_inputs);
  r.answer(0, "{}");
  r.answer(1, "{}");
  r.reply(R"({"resultType":"input_required","inputRequests":{"again":{"method":"roots/list"}}})");
  r.answer(2, R"({"roots":[1]})");
  CHECK(r.launcher.last().count("tools/call") == 3);
  CHECK(r.param("requestState").empty());
  CHECK(r.param("inputResponses") == R"({"again":{"roots":[1]}})");
  r.reply(R"({"resultType":"input_required","requestState":"later"})");
  CHECK(r.launcher.last().count("tools/call") == 4);
  CHECK(r.param("requestState") == R"("later")");
  CHECK(r.param("inputResponses").empty());
  // A result that does not say what it is is complete.
  r.reply(R"({"content":[]})");
  CHECK(r.box.answered());
}

TEST_CASE("a caller that goes through the rounds itself gets the request for input whole") {
  inputs_rig r;
  std::string_view method = "tools/call";
  SUBCASE("of a tool") {}
  SUBCASE("of a prompt") {
    method = "prompts/get";
  }
  r.call(method, true);
  r.reply(two_inputs, method);
  CHECK(r.box.answered());
  CHECK(r.box.text() == two_inputs);
  CHECK(r.questions->questions.empty());
}

TEST_CASE("a prompt may ask for input too, and nobody to ask ends the call with the question quoted") {
  inputs_rig r;
  SUBCASE("asked") {
    r.call("prompts/get");
    r.reply(two_inputs, "prompts/get");
    CHECK(r.questions->questions.size() == 2);
  }
  SUBCASE("nobody to ask") {
    r.call("prompts/get", false, false);
    r.reply(two_inputs, "prompts/get");
    CHECK(r.box.failed());
    CHECK(r.box.last.failure.code == errc::peer);
    CHECK(contains(r.box.text(), "\"Who?\""));
  }
}

TEST_CASE("a server may ask for input eight times in one call") {
  inputs_rig r;
  r.call();
  for (std::size_t i = 0; i < 8; ++i) {
    r.reply(R"({"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}})");
    REQUIRE(r.box.times == 0);
    r.answer(i, "{}");
  }
  CHECK(r.launcher.last().count("tools/call") == 9);
  r.reply(R"({"resultType":"input_required","requestState":"x"})");
  CHECK(r.box.failed());
  CHECK(contains(r.box.text(), "asked for input more than 8 times"));
}

TEST_CASE("requests for input that break the protocol end the call with a sentence") {
  inputs_rig r;
  r.call();
  std::string result, says;
  SUBCASE("neither questions nor a state") {
    result = R"({"resultType":"input_required"})";
    says = "without saying for which";
  }
  SUBCASE("a state that is no string") {
    result = R"({"resultType":"input_required","requestState":{}})";
    says = "requestState must be a string";
  }
  SUBCASE("questions that are no object") {
    result = R"({"resultType":"input_required","inputRequests":[]})";
    says = "inputRequests of the wrong shape";
  }
  SUBCASE("a method that no client has") {
    result = R"({"resultType":"input_required","inputRequests":{"k":{"method":"tools/call"}}})";
    says = "\"tools/call\"";
  }
  SUBCASE("too many") {
    result = R"({"resultType":"input_required","inputRequests":{)";
    for (int i = 0; i < 17; ++i)
      result += (i ? "," : "") + ("\"k" + std::to_string(i) + R"(":{"method":"roots/list"})");
    result += "}}";
    says = "more than 16 questions at once";
  }
  r.reply(result);
  CHECK(r.box.failed());
  CHECK(contains(r.box.text(), says));
  CHECK(r.questions->questions.empty());
}

TEST_CASE("an input that is refused ends the call and withdraws the others") {
  inputs_rig r;
  r.call();
  r.reply(two_inputs);
  r.questions->refuse(0, R"({"code":-1,"message":"User rejected"})");
  CHECK(r.box.times == 0);  // the caller hears of it in a later turn
  r.turn();
  CHECK(r.box.failed());
  CHECK(r.box.text() == "tool server \"srv\" asked for input and got none: User rejected");
  CHECK(r.questions->questions[1].withdrawn);
  CHECK(r.supervisor->open_calls() == 0);
}

TEST_CASE("a call between two rounds ends with its cancellation or its server or the limit of a question") {
  auto o = server_named("srv");
  o.question_timeout = milliseconds(30'000);
  inputs_rig r(o);
  r.call();
  r.reply(two_inputs);
  const auto process = r.launcher.spawned[0];
  SUBCASE("cancelled") {
    r.owner("srv__echo")->cancel(r.ticket, "enough");
  }
  SUBCASE("exit") {
    process->exit(1);
  }
  SUBCASE("restart") {
    REQUIRE(r.supervisor->restart("srv").has_value());
  }
  SUBCASE("stop") {
    r.supervisor->stop([] {}, milliseconds(0));
  }
  SUBCASE("never answered") {
    r.advance(30'000);
  }
  r.turn();
  r.turn();
  CHECK(r.box.failed());
  CHECK(r.questions->questions[0].withdrawn);
  CHECK(r.questions->questions[1].withdrawn);
  r.answer(0, "{}");
  r.answer(1, "{}");
  CHECK(process->count("tools/call") == 1);
  CHECK(r.supervisor->open_calls() == 0);
}

TEST_CASE("the hard limit counts the time at the server over all rounds and not the time of the questions") {
  auto o = server_named("srv");
  o.limits = {milliseconds(60'000), milliseconds(10'000)};
  inputs_rig r(o);
  r.call();
  r.advance(4'000);
  r.reply(two_inputs);
  r.advance(100'000);
  r.answer(0, "{}");
  r.answer(1, "{}");
  r.advance(5'999);
  CHECK(r.box.times == 0);
  r.advance(1);
  CHECK(r.box.failed());
  CHECK(r.box.last.failure.code == errc::timed_out);
}

TEST_CASE("a call whose revision is refused and supported all the same is sent once more") {
  inputs_rig r;
  r.call();
  const auto refuse = [&](std::string_view supported) {
    r.launcher.last().refuse(r.sent(), -32022, "Unsupported", "{\"supported\":" + std::string(supported) + "}");
    r.turn();
  };
  SUBCASE("supported") {
    refuse(R"(["2026-07-28"])");
    CHECK(r.launcher.last().count("tools/call") == 2);
    refuse(R"(["2026-07-28"])");
  }
  SUBCASE("not supported") {
    refuse(R"(["2030-01-01"])");
  }
  CHECK(r.box.times == 1);
  CHECK(r.box.last.type == call_outcome::kind::error);
}

TEST_CASE("a task of a modern server passes to a caller that knows tasks, if the server has declared them") {
  supervisor_rig r;
  constexpr std::string_view task = R"({"resultType":"task","taskId":"t","status":"working"})";
  bool declared = true;
  SUBCASE("declared") {}
  SUBCASE("not declared") {
    declared = false;
  }
  r.start("srv", modern_script({"echo"}, [=](scripted_process& p, const message& m) {
            if (m.method() == "tools/call") p.answer(m, task);
            if (m.method() == "server/discover" && declared)
              p.answer(m, R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},)"
                          R"("extensions":{"io.modelcontextprotocol/tasks":{}}}})");
            return m.method() == "tools/call" || (m.method() == "server/discover" && declared);
          }));
  supervisor_rig::outcome_box box;
  server_call c;
  c.params = raw_json::literal(R"({"name":"echo"})");
  c.caller.capabilities = raw_json::literal(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  c.done = [&](call_outcome&& o) {
    ++box.times;
    box.last = std::move(o);
  };
  r.owner("srv__echo")->call(std::move(c));
  r.turn();
  CHECK(box.answered() == declared);
  if (declared) CHECK(box.text() == task);
}
