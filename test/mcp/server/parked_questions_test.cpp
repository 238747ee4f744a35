// Questions of legacy servers to modern callers: the request ends with them, the call waits, and a retry goes on.
#include "test/mcp/server/fake_host.hpp"

#include <memory>
#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

constexpr std::string_view able = R"({"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}})";

struct parked {
  explicit parked(mcp::callers::held_calls::options o = {}, mcp::clients::era era = mcp::clients::era::legacy)
      : options(o), server(std::make_shared<fake_client>("s", era)) {
    prepare(caller);
  }
  void prepare(fake_caller& c) {
    c.host.catalog = make_catalog({.tools = {make_tool(server, "s__t", "t"), make_tool(server, "s__u", "u")},
                                   .prompts = {make_feature(server, "s__p", "p")},
                                   .resources = {make_feature(server, "file:///r", "file:///r")}});
    c.host.table = &held;
  }
  static std::string params(const std::string& more = "", std::string_view capabilities = able,
                            const std::string& meta = "") {
    return modern_params(R"("name":"s__t","arguments":{"a":1},)" + more, std::string(capabilities), meta);
  }
  std::string call(const std::string& id, const std::string& p) {
    caller.say(request(id, "tools/call", p));
    const auto sent = caller.host.take();
    return sent.empty() ? "" : sent.back();
  }
  mcp::clients::question_handler::ticket question(const std::string& method, std::string_view p = "{}",
                                                  std::size_t n = 0) {
    return server->calls.at(n).questions->ask({"s", method, raw_json::own(p)}, [this](mcp::rpc::call_outcome&& o) {
      answers.push_back(o.type == mcp::rpc::call_outcome::kind::failed ? "failed: " + o.failure.message
                                                                       : std::string(o.value.text()));
    });
  }
  /// Lets questions be gathered. Returns the last message.
  std::string gather() {
    caller.host.clock.advance(milliseconds(1000));
    const auto sent = caller.host.take();
    return sent.empty() ? "" : sent.back();
  }
  std::vector<std::string> answered() {
    caller.host.clock.advance(milliseconds(0));
    return std::exchange(answers, {});
  }
  /// Parks one question. Returns the state.
  std::string park() {
    call("1", params());
    question("elicitation/create");
    return at(gather(), {"result", "requestState"});
  }
  static std::string retry(const std::string& state, const std::string& responses = R"({"q1":{"action":"accept"}})") {
    return R"("requestState":)" + state + R"(,"inputResponses":)" + responses + ",";
  }

  manual_time clock;
  mcp::callers::held_calls::options options;
  mcp::callers::held_calls held{clock, options};
  std::vector<std::string> answers;
  std::shared_ptr<fake_client> server;
  fake_caller caller;
};
using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("questions that come together end the request as one and a retry brings the answers and the result") {
  parked p;
  CHECK(p.call("1", p.params()).empty());
  p.question("elicitation/create", R"({"message":"?","elicitationId":"e","task":{},"_meta":{"progressToken":1}})");
  p.caller.host.clock.advance(milliseconds(20));
  p.question("roots/list");
  CHECK(p.caller.host.sent.empty());
  const std::string asked = p.gather();
  CHECK(id_of(asked) == "1");
  CHECK(at(asked, {"result", "resultType"}) == R"("input_required")");
  CHECK(
      at(asked, {"result", "inputRequests"}) ==
      R"({"q1":{"method":"elicitation/create","params":{"message":"?","_meta":{"mcpbx/server":"s"}}},"q2":{"method":"roots/list","params":{"_meta":{"mcpbx/server":"s"}}}})");
  CHECK(at(asked, {"result", "ttlMs"}).empty());
  const std::string state = at(asked, {"result", "requestState"});
  CHECK(p.held.size() == 1);
  CHECK(p.caller.session.open() == 0);
  CHECK(p.call("2", p.params(p.retry(state, R"({"q2":{"roots":[ ]},"q1":{"action":"accept"},"q9":{}})"))).empty());
  CHECK(p.answered() == lines{R"({"action":"accept"})", R"({"roots":[ ]})"});
  CHECK(p.server->calls.size() == 1);
  CHECK(p.held.size() == 0);
  p.server->answer(0, R"({"content":[]})");
  CHECK(id_of(p.caller.host.sent.at(0)) == "2");
  CHECK(at(p.caller.host.sent.at(0), {"result", "resultType"}) == R"("complete")");
  CHECK(p.caller.session.open() == 0);
}

TEST_CASE("a retry may come through another session of the same principal after the first is gone") {
  parked p;
  auto first = std::make_unique<fake_caller>();
  p.prepare(*first);
  first->host.clock = p.caller.host.clock;
  first->say(request("1", "tools/call", p.params()));
  p.question("elicitation/create");
  first->host.clock.advance(milliseconds(1000));
  const std::string state = at(first->host.take().back(), {"result", "requestState"});
  first->session.close();
  CHECK(p.server->cancelled.empty());
  CHECK(p.call("2", p.params(p.retry(state))).empty());
  first.reset();
  CHECK(p.answered() == lines{R"({"action":"accept"})"});
  p.server->answer(0, R"({"content":[]})");
  CHECK(id_of(p.caller.host.sent.at(0)) == "2");
}

TEST_CASE("G16: progress and cancellation of the retry belong to the held call") {
  parked p;
  const std::string state = p.park();
  p.server->calls[0].progress(raw_json::literal(R"({"progressToken":9,"progress":1})"));
  CHECK(p.caller.host.sent.empty());
  p.call("2", p.params(p.retry(state), able, R"(,"progressToken":"mine")"));
  p.server->calls[0].progress(raw_json::literal(R"({"progressToken":9,"progress":2})"));
  CHECK(p.caller.host.take() ==
        lines{R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":2}})"});
  // The first request is long over: its id cancels nothing.
  p.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(p.server->cancelled.empty());
  p.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  CHECK(p.server->cancelled == std::vector<mcp::clients::client::ticket>{1});
  p.server->calls[0].done(mcp::rpc::call_outcome::failed(errc::cancelled, "gone"));
  CHECK(p.caller.host.sent.empty());
}

TEST_CASE("answers that are missing are asked for again with a new state and the old one is used up") {
  parked p;
  p.call("1", p.params());
  p.question("elicitation/create");
  p.question("roots/list");
  const std::string state = at(p.gather(), {"result", "requestState"});
  p.call("2", p.params(p.retry(state)));
  const std::string again = p.gather();
  CHECK(p.answered() == lines{R"({"action":"accept"})"});
  CHECK(id_of(again) == "2");
  CHECK(at(again, {"result", "inputRequests"}) ==
        R"({"q2":{"method":"roots/list","params":{"_meta":{"mcpbx/server":"s"}}}})");
  CHECK(at(again, {"result", "requestState"}) != state);
  CHECK(code_of(p.call("3", p.params(p.retry(state)))) == -32602);
  CHECK(p.call("4", p.params(p.retry(at(again, {"result", "requestState"}), R"({"q2":{"roots":[]}})"))).empty());
  CHECK(p.answered() == lines{R"({"roots":[]})"});
}

TEST_CASE("G13: a retry with other arguments or another name or method or principal is refused and the call stays") {
  parked p;
  const std::string state = p.park();
  const std::string r = p.retry(state);
  CHECK(code_of(p.call("2", modern_params(R"("name":"s__t","arguments":{"a":2},)" + r, std::string(able)))) == -32602);
  CHECK(code_of(p.call("3", modern_params(R"("name":"s__u","arguments":{"a":1},)" + r, std::string(able)))) == -32602);
  CHECK(code_of(p.caller.ask(request("4", "prompts/get", modern_params(R"("name":"s__p",)" + r)))) == -32602);
  CHECK(code_of(p.caller.ask(request("5", "resources/read", modern_params(R"("uri":"file:///r",)" + r)))) == -32602);
  p.caller.host.take();
  p.caller.host.who = "uid:2";
  const std::string foreign = p.call("6", p.params(r));
  CHECK(text_of(foreign).find("it belongs to another request") != std::string::npos);
  p.caller.host.who = "uid:1000";
  for (const std::string wrong : {"[]", "7"}) CHECK(code_of(p.call("7", p.params(p.retry(state, wrong)))) == -32602);
  CHECK(p.server->calls.size() == 1);
  CHECK(p.answers.empty());
  CHECK(p.call("8", p.params(r)).empty());
  CHECK(p.answered() == lines{R"({"action":"accept"})"});
}

TEST_CASE("an answer that is no object is refused before the state is used") {
  parked p;
  const std::string state = p.park();
  CHECK(code_of(p.call("2", p.params(p.retry(state, R"({"q1":7})")))) == -32602);
  CHECK(code_of(p.call("3", p.params(p.retry(state, R"({"q1":null})")))) == -32602);
  CHECK(p.call("4", p.params(p.retry(state))).empty());
}

TEST_CASE("a state of ours reaches no server whatever its call has become") {
  parked p({}, mcp::clients::era::legacy);
  const std::string state = p.park();
  p.call("2", p.params(p.retry(state)));
  p.server->answer(0, R"({"content":[]})");
  p.caller.host.take();
  // The server has come back as a modern one.
  const auto modern = std::make_shared<fake_client>("s", mcp::clients::era::modern);
  p.caller.host.catalog = make_catalog({.tools = {make_tool(modern, "s__t", "t")}});
  CHECK(code_of(p.call("3", p.params(p.retry(state)))) == -32602);
  CHECK(code_of(p.call("4", modern_params(R"("name":"s__t","arguments":{"more":1},)" + p.retry(state)))) == -32602);
  CHECK(code_of(p.caller.ask(
            request("5", "completion/complete",
                    modern_params(R"("ref":{"type":"ref/prompt","name":"s__p"},)" + p.retry(state))))) == -32602);
  p.caller.initialize();
  CHECK(code_of(p.call("6", R"({"name":"s__t","arguments":{"a":1},"requestState":)" + state + "}")) == -32602);
  CHECK(modern->calls.empty());
}

TEST_CASE("the state of a modern server passes untouched, also one of another mcpbx") {
  parked p({}, mcp::clients::era::modern);
  parked other;
  for (const std::string& state : {std::string(R"("theirs")"), std::string(R"("\u0061")"), other.park()}) {
    p.call("1", p.params(R"("requestState":)" + state + R"(,"inputResponses":{"k":{ }},)"));
    CHECK(p.server->calls.back().params.text().find(R"("requestState":)" + state + R"(,"inputResponses":{"k":{ }})") !=
          std::string::npos);
    p.server->answer(p.server->calls.size() - 1, "{}");
  }
}

TEST_CASE("G13: a state that mcpbx never gave reaches no legacy server and a retry after a restart says so") {
  parked p, before;
  p.park();
  for (const std::string& state : {before.park(), std::string(R"("made up")"), std::string(R"("")")}) {
    const std::string got = p.call("9", p.params(p.retry(state)));
    CHECK(code_of(got) == -32602);
    CHECK(text_of(got) == mcp::callers::held_calls::foreign);
  }
  CHECK(p.server->calls.size() == 1);
  // Answers without a state are no retry: the request is a new one, without them.
  p.call("10", p.params(R"("inputResponses":{"q1":{}},)"));
  CHECK(p.server->calls.at(1).params.text().find("inputResponses") == std::string::npos);
}

TEST_CASE("a result that comes while its caller is away waits for the retry") {
  parked p;
  const std::string state = p.park();
  const std::size_t before = p.held.bytes();
  p.server->answer(0, R"({"content":[{"type":"text","text":"early"}]})");
  CHECK(p.held.bytes() > before);
  CHECK(p.caller.host.sent.empty());
  const std::string got = p.call("2", p.params(p.retry(state)));
  CHECK(id_of(got) == "2");
  CHECK(got.find("early") != std::string::npos);
  CHECK(p.held.bytes() == 0);
}

TEST_CASE("a result for which there is no room becomes a failure that says so") {
  parked p({.max_bytes = 2000});
  const std::string state = p.park();
  REQUIRE_FALSE(state.empty());
  p.server->answer(0, R"({"content":[{"type":"text","text":")" + std::string(3000, 'x') + R"("}]})");
  CHECK(text_of(p.call("2", p.params(p.retry(state)))).find("no room to keep") != std::string::npos);
}

TEST_CASE("a question that comes while the caller is away waits for its retry") {
  parked p;
  const std::string state = p.park();
  p.question("roots/list");
  CHECK(p.gather().empty());
  p.call("2", p.params(p.retry(state)));
  CHECK(at(p.gather(), {"result", "inputRequests"}) ==
        R"({"q2":{"method":"roots/list","params":{"_meta":{"mcpbx/server":"s"}}}})");
}

TEST_CASE("a question that its server withdraws is not asked again") {
  parked p;
  p.call("1", p.params());
  const auto ticket = p.question("elicitation/create");
  const std::string state = at(p.gather(), {"result", "requestState"});
  p.server->calls[0].questions->withdraw(ticket, "not needed");
  CHECK(p.call("2", p.params(p.retry(state))).empty());
  CHECK(p.gather().empty());
  CHECK(p.answered().empty());
  p.server->answer(0, "{}");
  CHECK(id_of(p.caller.host.sent.at(0)) == "2");
}

TEST_CASE("G16: a caller that does not come back has its call cancelled at the server") {
  parked p;
  const std::string state = p.park();
  p.clock.advance(p.options.expiry);
  CHECK(p.server->cancelled == std::vector<mcp::clients::client::ticket>{1});
  p.server->calls[0].done(mcp::rpc::call_outcome::failed(errc::cancelled, "gone"));
  CHECK(p.held.size() == 0);
  CHECK(p.caller.host.sent.empty());
  CHECK(text_of(p.call("2", p.params(p.retry(state)))).find("its time is over") != std::string::npos);
}

TEST_CASE("a call that cannot be held fails and is cancelled at the server") {
  parked p({.max_calls = 1});
  p.park();
  p.call("2", p.params());
  p.question("elicitation/create", "{}", 1);
  CHECK(code_of(p.gather()) == -32001);
  CHECK(p.server->cancelled == std::vector<mcp::clients::client::ticket>{2});
  p.server->calls[1].done(mcp::rpc::call_outcome::failed(errc::cancelled, "gone"));
  CHECK(p.caller.host.sent.empty());
  CHECK(p.held.size() == 1);
}

TEST_CASE("a modern caller without the capability is not asked") {
  parked p;
  p.caller.host.own_method = "roots/list";
  p.call("1", p.params("", "{}"));
  p.question("elicitation/create");
  p.question("roots/list");
  CHECK(p.answered() == lines{R"({"action":"decline"})"});
  CHECK(p.caller.host.own->asked.size() == 1);
  CHECK(p.gather().empty());
  CHECK(p.held.size() == 0);
  // Sampling is not declined: the caller learns what it would need.
  parked s;
  s.call("1", s.params("", R"({"elicitation":{}})"));
  s.question("sampling/createMessage", R"({"tools":[]})");
  const auto sent = s.caller.host.take();
  REQUIRE(sent.size() == 1);
  CHECK(code_of(sent[0]) == -32021);
  CHECK(at(sent[0], {"error", "data"}) == R"({"requiredCapabilities":{"sampling":{"tools":{}}}})");
  CHECK(s.server->cancelled.size() == 1);
  s.server->calls[0].done(mcp::rpc::call_outcome::failed(errc::cancelled, "gone"));
  CHECK(s.caller.host.sent.empty());
  // The capabilities of the retry count for what is asked then, not those of the first request.
  parked q;
  const std::string state = q.park();
  q.question("roots/list");
  q.call("2", q.params(q.retry(state, "{}"), R"({"roots":{}})"));
  q.caller.host.clock.advance(milliseconds(0));
  CHECK(q.answers == lines{R"({"action":"decline"})"});
  CHECK(at(q.gather(), {"result", "inputRequests"}) ==
        R"({"q2":{"method":"roots/list","params":{"_meta":{"mcpbx/server":"s"}}}})");
}

TEST_CASE("without a table for held calls nobody is asked") {
  parked p;
  p.caller.host.table = nullptr;
  p.call("1", p.params());
  p.question("elicitation/create");
  CHECK(p.answered() == lines{R"({"action":"decline"})"});
}

TEST_CASE("G20: answers are taken while mcpbx stops and new calls are not") {
  parked p;
  const std::string state = p.park();
  p.caller.host.stopping = true;
  CHECK(text_of(p.call("2", p.params())) == "mcpbx is stopping");
  CHECK(p.call("3", p.params(p.retry(state))).empty());
  CHECK(p.answered() == lines{R"({"action":"accept"})"});
}

TEST_CASE("each request of a call that is continued has its own record in the audit") {
  parked p;
  p.caller.host.calls = std::make_shared<fake_recorder>();
  p.call("1", p.params());
  p.question("elicitation/create");
  p.caller.host.clock.advance(milliseconds(1000));
  p.caller.host.calls->write();
  const std::string state = at(p.caller.host.take().back(), {"result", "requestState"});
  p.call("2", p.params(p.retry(state)));
  p.server->answer(0, R"({"content":[],"isError":true})");
  p.caller.host.calls->write();
  REQUIRE(p.caller.host.calls->records.size() == 2);
  for (const auto& r : p.caller.host.calls->records) {
    CHECK(r.name == "s__t");
    CHECK(r.server == "s");
    CHECK(r.decision == mcp::server::call_decision::called);
  }
  CHECK(p.caller.host.calls->records[0].end == mcp::server::call_end::result);
  CHECK(p.caller.host.calls->records[1].end == mcp::server::call_end::tool_error);
}

TEST_CASE("G16: a caller that cancels before it has its state loses the call") {
  parked p;
  p.caller.host.calls = std::make_shared<fake_recorder>();  // holds the answer back
  p.call("1", p.params());
  p.question("elicitation/create");
  p.caller.host.clock.advance(milliseconds(1000));
  CHECK(p.held.size() == 1);
  p.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(p.held.size() == 0);
  CHECK(p.server->cancelled.size() == 1);
}

TEST_CASE("addresses that a legacy server wants visited are asked for in the words of the modern era") {
  parked p;
  const std::string_view error =
      R"({"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","message":"go","url":"https://x","elicitationId":"e"}]}})";
  p.call("1", p.params());
  p.server->answer_error(0, error);
  const std::string asked = p.caller.host.take().at(0);
  CHECK(
      at(asked, {"result", "inputRequests"}) ==
      R"({"q1":{"method":"elicitation/create","params":{"mode":"url","message":"go","url":"https://x","_meta":{"mcpbx/server":"s"}}}})");
  CHECK(at(asked, {"result", "requestState"}).empty());
  p.call("2", p.params("", R"({"elicitation":{}})"));
  p.server->answer_error(1, error);
  CHECK(code_of(p.caller.host.sent.at(0)) == -32021);
  CHECK(at(p.caller.host.sent.at(0), {"error", "data"}) == R"({"requiredCapabilities":{"elicitation":{"url":{}}}})");
}

TEST_CASE("a modern server's questions are parked where somebody else answers a part of them") {
  parked p({}, mcp::clients::era::modern);
  p.caller.host.own_method = "sampling/createMessage";
  p.call("1", p.params("", R"({"elicitation":{}})"));
  CHECK_FALSE(p.server->calls.at(0).takes_input_required);
  p.question("elicitation/create");
  p.question("sampling/createMessage");
  CHECK(p.caller.host.own->asked.size() == 1);
  const std::string state = at(p.gather(), {"result", "requestState"});
  p.call("2", p.params(p.retry(state), R"({"elicitation":{}})"));
  CHECK(p.answered() == lines{R"({"action":"accept"})"});
  CHECK(p.server->calls.size() == 1);
}
