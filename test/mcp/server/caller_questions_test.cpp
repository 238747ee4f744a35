// Questions of tool servers to legacy callers: whose call they belong to, who answers, and how they end.
#include "test/mcp/server/fake_host.hpp"

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

struct questioned {
  explicit questioned(
      std::string_view capabilities = R"({"roots":{},"sampling":{},"elicitation":{"url":{},"form":{}}})",
      mcp::clients::era era = mcp::clients::era::legacy)
      : server(std::make_shared<fake_client>("s", era)) {
    caller.host.catalog = make_catalog({.tools = {make_tool(server, "s__t", "t")}});
    caller.initialize("2025-11-25", capabilities);
    call("1");
  }
  void call(const std::string& id) { caller.say(request(id, "tools/call", R"({"name":"s__t"})")); }
  mcp::clients::question_handler::ticket question(const std::string& method, std::string_view params = "{}",
                                                  std::size_t call = 0) {
    return server->calls.at(call).questions->ask(
        {"s", method, params.empty() ? raw_json() : raw_json::own(params)}, [this](mcp::rpc::call_outcome&& o) {
          answers.push_back(o.type == mcp::rpc::call_outcome::kind::failed ? "failed: " + o.failure.message
                                                                           : std::string(o.value.text()));
        });
  }
  std::vector<std::string> answered() {
    caller.host.clock.advance(milliseconds(0));
    return std::exchange(answers, {});
  }
  std::vector<std::string> answers;
  std::shared_ptr<fake_client> server;
  fake_caller caller;
};
using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a question reaches the caller of the call with the name of its server and its answer comes back") {
  questioned q;
  q.question("elicitation/create", R"({"message":"?","_meta":{"progressToken":3,"vendor":1}})");
  CHECK(
      q.caller.host.take() ==
      lines{
          R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","_meta":{"vendor":1,"mcpbx/server":"s"}}})"});
  CHECK(q.caller.host.asks_about.back() != 0);
  q.question("roots/list", "");
  CHECK(q.caller.host.take() ==
        lines{R"({"jsonrpc":"2.0","id":2,"method":"roots/list","params":{"_meta":{"mcpbx/server":"s"}}})"});
  q.caller.say(R"({"jsonrpc":"2.0","id":2,"result":{"roots":[ ]}})");
  q.caller.say(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}})");
  CHECK(q.answers.empty());  // never from inside
  CHECK(q.answered() == lines{R"({"code":-1,"message":"no"})", R"({"roots":[ ]})"});
}

TEST_CASE("progress of a caller's answer reaches the server that wants it until the question has ended") {
  questioned q;
  std::vector<std::string> told;
  const auto ask = [&] {
    q.server->calls.at(0).questions->ask(
        {"s", "sampling/createMessage", raw_json::literal(R"({"_meta":{"progressToken":"sp1"}})"),
         [&](const raw_json& p) { told.emplace_back(p.text()); }},
        [&](mcp::rpc::call_outcome&&) {});
    return at(q.caller.host.take().at(0), {"params", "_meta", "progressToken"});
  };
  const auto progress = [&](const std::string& token) {
    q.caller.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
                 R"(,"progress":1}})");
  };
  const std::string first = ask(), second = ask();
  CHECK(first != second);
  CHECK(first != "\"sp1\"");
  progress(first);
  progress("\"sp1\"");
  progress("7");
  CHECK(told == lines{R"({"progressToken":)" + first + R"(,"progress":1})"});
  q.caller.say(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  q.caller.host.clock.advance(milliseconds(0));
  progress(first);
  CHECK(told.size() == 1);
  progress(second);
  CHECK(told.size() == 2);
  SUBCASE("by the end of its call") {
    q.server->answer(0, R"({"content":[]})");
  }
  SUBCASE("by the cancellation of its call") {
    q.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  }
  progress(second);
  CHECK(told.size() == 2);
}

TEST_CASE("an elicitation in URL mode of a modern server gets the id that a legacy caller needs") {
  questioned q(R"({"elicitation":{"url":{}}})", mcp::clients::era::modern);
  q.question("elicitation/create", R"({"mode":"url","url":"https://x"})");
  CHECK(q.caller.host.take().at(0).find(R"("elicitationId":"mcpbx-1")") != std::string::npos);
}

TEST_CASE("a caller without the capability is not asked and whoever stands in for it answers") {
  questioned q("{}");
  q.caller.host.own_method = "sampling/createMessage";
  q.question("elicitation/create");
  q.question("roots/list");
  q.question("sampling/createMessage", R"({"maxTokens":1})");
  CHECK(q.caller.host.sent.empty());
  CHECK(q.answers.empty());
  CHECK(q.answered() ==
        lines{R"({"action":"decline"})",
              R"({"code":-32601,"message":"the caller of this call has no roots, and none are configured"})"});
  auto& own = *q.caller.host.own;
  REQUIRE(own.asked.size() == 1);
  CHECK(own.asked[0].server == "s");
  CHECK(own.asked[0].params.text() == R"({"maxTokens":1})");
  own.dones[0]({mcp::rpc::call_outcome::kind::result, raw_json::literal(R"({"role":"assistant"})"), {}});
  CHECK(q.answered() == lines{R"({"role":"assistant"})"});
}

TEST_CASE("E3: a question that somebody else answers has the trace of the call that it belongs to") {
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  questioned q("{}");
  q.caller.host.own_method = "sampling/createMessage";
  const auto traced = [&](const std::string& id, const std::string& meta) {
    q.caller.say(request(id, "tools/call", R"({"name":"s__t","_meta":)" + meta + "}"));
    q.question("sampling/createMessage", R"({"maxTokens":1})", q.server->calls.size() - 1);
    return q.caller.host.own->asked.back().trace;
  };
  CHECK((traced("2", R"({"traceparent":")" + parent + R"(","tracestate":"a=1"})") ==
         trace::trace_context{parent, "a=1"}));
  CHECK(traced("3", R"({"traceparent":"none"})").empty());
  CHECK(traced("4", "{}").empty());
}

TEST_CASE("a caller that is not ready or sends no more is not asked") {
  questioned ended;
  ended.caller.session.end_input();
  ended.question("elicitation/create");
  CHECK(ended.answered() == lines{R"({"action":"decline"})"});
  // One that calls before it has said that it is initialized.
  questioned early;
  fake_caller fresh;
  fresh.host.catalog = early.caller.host.catalog;
  fresh.say(request("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}})"));
  fresh.say(request("1", "tools/call", R"({"name":"s__t"})"));
  fresh.host.take();
  std::string answer;
  early.server->calls.at(1).questions->ask({"s", "elicitation/create", {}},
                                           [&](mcp::rpc::call_outcome&& o) { answer = o.value.text(); });
  fresh.host.clock.advance(milliseconds(0));
  CHECK(fresh.host.sent.empty());
  CHECK(answer == R"({"action":"decline"})");
}

TEST_CASE("nobody answers a question about the call of another") {
  questioned q;
  fake_caller hostile;
  hostile.host.catalog = q.caller.host.catalog;
  hostile.initialize("2025-11-25", R"({"elicitation":{}})");
  hostile.say(request("1", "tools/call", R"({"name":"s__t"})"));
  q.question("elicitation/create");
  for (int id = 0; id < 5; ++id)
    hostile.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"action":"accept"}})");
  hostile.host.clock.advance(milliseconds(0));
  CHECK(q.answered().empty());
  CHECK(hostile.session.counts().stray == 5);
  q.caller.say(R"({"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}})");
  CHECK(q.answered() == lines{R"({"action":"cancel"})"});
}

TEST_CASE("a question ends at the caller when its server withdraws it or the call ends") {
  const auto cancelled = [](int id, const std::string& why) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
           R"(,"reason":")" + why + "\"}}";
  };
  questioned q;
  const auto ticket = q.question("elicitation/create");
  q.caller.host.take();
  q.server->calls[0].questions->withdraw(ticket, "not needed");
  q.server->calls[0].questions->withdraw(ticket, "not needed");
  q.server->calls[0].questions->withdraw(99, "not needed");
  CHECK(q.caller.host.take() == lines{cancelled(1, "not needed")});
  q.question("elicitation/create");
  q.caller.host.take();
  q.server->answer(0, "{}");
  CHECK(q.caller.host.take() == lines{cancelled(2, "the call has ended"), R"({"jsonrpc":"2.0","id":1,"result":{}})"});
  CHECK(q.answered().empty());
  // The same where somebody stands in for the caller.
  questioned other("{}");
  other.caller.host.own_method = "roots/list";
  other.question("roots/list");
  other.server->answer(0, "{}");
  CHECK(other.caller.host.own->withdrawn == std::vector<mcp::clients::question_handler::ticket>{1});
  CHECK(other.caller.host.clock.armed() == 0);
}

TEST_CASE("a caller that cancels its call or leaves answers nothing any more") {
  questioned q;
  q.question("elicitation/create");
  q.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(q.server->cancelled == std::vector<mcp::clients::client::ticket>{1});
  CHECK(q.answered().at(0).starts_with("failed: was cancelled"));
  q.question("elicitation/create");
  CHECK(q.answered() == lines{R"({"action":"decline"})"});
  questioned left;
  left.question("elicitation/create");
  left.caller.session.close();
  CHECK(left.server->cancelled.size() == 1);
  CHECK(left.answered().size() == 1);
}

TEST_CASE("questions of one call are bounded") {
  questioned q;
  for (std::size_t i = 0; i < mcp::callers::passed_call::most_questions; ++i) q.question("roots/list");
  CHECK(q.answered().empty());
  q.question("roots/list");
  CHECK(q.answered() == lines{"failed: has 16 questions open about this call already"});
}

TEST_CASE("params of a question that cannot be edited are refused") {
  questioned q;
  std::string many = R"({"k":1)";
  for (int i = 0; i < 20'000; ++i) many += R"(,"k":1)";
  q.question("elicitation/create", many + "}");
  CHECK(q.answered().at(0).starts_with("failed: "));
  q.question("elicitation/create", R"({"_meta":{},"_meta":{}})");
  CHECK(q.answered().at(0).starts_with("failed: "));
}

TEST_CASE("a modern server sees the capabilities of its caller and those that are lent to it") {
  questioned q(
      R"({"roots":{"listChanged":true},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}}})",
      mcp::clients::era::modern);
  CHECK(q.server->calls.at(0).caller.capabilities.text() ==
        R"({"roots":{"listChanged":true},"extensions":{"x/y":{}}})");
  CHECK_FALSE(q.server->calls.at(0).takes_input_required);
  q.caller.host.own_method = "sampling/createMessage";
  q.call("2");
  CHECK(q.server->calls.at(1).caller.capabilities.text() ==
        R"({"roots":{"listChanged":true},"extensions":{"x/y":{}},"sampling":{}})");
  q.caller.say(request("3", "tools/call", modern_params(R"("name":"s__t",)", R"({"sampling":{}})")));
  CHECK(q.server->calls.at(2).caller.capabilities.text() == R"({"sampling":{}})");
  CHECK(q.server->calls.at(2).takes_input_required);
  q.caller.say(request("4", "tools/call", modern_params(R"("name":"s__t",)")));
  CHECK(q.server->calls.at(3).caller.capabilities.text() == R"({"sampling":{}})");
  CHECK_FALSE(q.server->calls.at(3).takes_input_required);
}

TEST_CASE("the end of an elicitation is told to a legacy caller also after the call") {
  questioned q;
  auto notified = q.server->calls.at(0).notified;
  REQUIRE(notified);
  q.server->answer_error(0, R"({"code":-32042,"message":"m","data":{"elicitations":[]}})");
  CHECK(code_of(q.caller.host.take().at(0)) == -32042);
  notified("notifications/elicitation/complete", raw_json::literal(R"({"elicitationId":"e"})"));
  CHECK(q.caller.host.take() ==
        lines{R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}})"});
  q.caller.session.close();
  notified("notifications/elicitation/complete", raw_json::literal("{}"));
  CHECK(q.caller.host.sent.empty());
}
