// Runs whose tool servers ask questions while they work on a call: input of people, approvals of sampling, own answers.
#include "daemon/store/records/record_format.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::answers;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

constexpr std::string_view age_form =
    R"({"message":"How old?","requestedSchema":{"type":"object","properties":{"age":{"type":"integer","minimum":0}},"required":["age"]}})";

struct questioned : fixture {
  std::vector<std::string> got;  // answers as the server got them, in order

  questioned() {
    server->hold["lookup"] = true;
    model->script = {calls({lookup("a")}), says("done")};
  }

  mcp::clients::question_handler::ticket ask(std::string_view params = age_form,
                                             std::string method = "elicitation/create", std::size_t call = 0) {
    REQUIRE(server->open.size() > call);
    auto& open = std::next(server->open.begin(), static_cast<std::ptrdiff_t>(call))->second;
    REQUIRE(open.questions);
    const auto ticket =
        open.questions->ask({"srv", std::move(method), raw_json::own(params)}, [this](mcp::rpc::call_outcome&& o) {
          got.push_back(o.type == mcp::rpc::call_outcome::kind::failed ? o.failure.message
                                                                       : std::string(o.value.text()));
        });
    settle();
    return ticket;
  }
  void withdraw(mcp::clients::question_handler::ticket t) {
    server->open.begin()->second.questions->withdraw(t, "cancelled");
    settle();
  }
  raw_json event(const std::string& type = "question") const {
    const auto all = caller_.of(type);
    REQUIRE_FALSE(all.empty());
    return *raw_json::parse(all.back());
  }
  std::string answer(const std::string& run, const std::string& body) {
    std::string outcome = "nothing";
    runs->answer(run, member_text(event(), "question"), raw_json::own(body),
                 [&](const result<void>& kept) { outcome = kept ? "" : kept.error().message; });
    settle();
    return outcome;
  }
  void end() {
    server->release();
    settle();
    CHECK(caller_.member("stopReason") == "final");
  }
};

}  // namespace

TEST_CASE(
    "L19: what a server asks during a call becomes a question with its schema and the answer reaches the server") {
  questioned f;
  const auto run = f.run();
  f.ask();
  const auto event = f.event();
  CHECK(member_text(event, "kind") == "input");
  CHECK(member_text(event, "server") == "srv");
  CHECK(member_text(event, "tool") == "srv__lookup");
  CHECK(member_text(event, "message") == "How old?");
  CHECK(find_member(event, "requestedSchema").text() ==
        R"({"type":"object","properties":{"age":{"type":"integer","minimum":0}},"required":["age"]})");
  CHECK(f.got.empty());
  CHECK(f.answer(run, R"({"action":"accept","content":{"age":7}})") == "");
  CHECK(f.got == lines{R"({"action":"accept","content":{"age":7}})"});
  CHECK(member_text(f.event("answer"), "action") == "accept");
  CHECK_FALSE(find_member(f.event("answer"), "content"));
  f.end();
}

TEST_CASE("G35: secrets that a person types for a server reach it and are in no record and no event") {
  questioned f;
  const auto run = f.run();
  f.ask(
      R"({"message":"m","requestedSchema":{"type":"object","properties":{"user":{"type":"string"},"apiKey":{"type":"string"},"PIN_password":{"type":"string"},"code":{"type":"string","writeOnly":true}}}})");
  const std::string said =
      R"({"action":"accept","content":{"user":"me","apiKey":"canary-1","PIN_password":"canary-2","code":"canary-3"}})";
  CHECK(f.answer(run, said) == "");
  CHECK(f.got == lines{said});
  std::string kept;
  for (const auto& one : f.kept.runs())
    for (const auto& r : one->records) kept += to_text(r) + "\n";
  CHECK(kept.find("canary") == std::string::npos);
  CHECK(kept.find(R"("content":{"user":"me","apiKey":"***","PIN_password":"***","code":"***"})") != std::string::npos);
  f.end();
}

TEST_CASE("L19: an answer that does not fit is refused with one clear error and the question stays open") {
  questioned f;
  const auto run = f.run();
  f.ask();
  CHECK(f.answer(run, R"({"action":"accept","content":{"age":-1}})") ==
        "params.content.age: expected at least 0, got -1");
  CHECK(f.answer(run, R"({"action":"accept"})") ==
        "params.content: expected an object with the fields of the form, got nothing");
  CHECK(f.answer(run, R"({"approve":true})") ==
        R"(params.action: expected "accept", "decline" or "cancel", because the question asks for input)");
  CHECK(f.got.empty());
  CHECK(f.answer(run, R"({"action":"decline"})") == "");
  CHECK(f.got == lines{R"({"action":"decline"})"});
  CHECK(f.answer(run, R"({"action":"decline"})").find("no question") != std::string::npos);  // the first answer counts
  f.end();
}

TEST_CASE("L19: a question of a server that no client can answer is declined at once with the mend") {
  questioned f;
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  r.run = "mute";
  REQUIRE(f.runs->start(std::move(r)).has_value());
  f.caller_.read(**f.runs->find("mute"), {.answers = false});
  f.settle();
  f.ask();
  CHECK(f.got == lines{R"({"action":"decline"})"});
  CHECK(f.caller_.of("question").empty());
  CHECK(contains(f.caller_.of("status").back(), "says \\\"answers\\\": true"));
  f.end();
}

TEST_CASE("L19: open questions of servers are declined when the last client that could answer goes") {
  questioned f;
  f.run();
  f.ask();
  f.caller_.answer_no_more();
  f.settle();
  CHECK(f.got == lines{R"({"action":"decline"})"});
  CHECK(contains(std::string(f.event("answer").text()), "nobody who follows this run can answer"));
  f.end();
}

TEST_CASE("L8 L19: waiting for a person counts against questionTimeoutMs and no other limit") {
  questioned f;
  auto r = fixture::ask();
  r.limits.timeout_ms = 1'000;
  r.limits.question_timeout_ms = 60'000;
  f.run(std::move(r));
  f.ask();
  f.time.advance(milliseconds(59'999));
  f.settle();
  CHECK(f.got.empty());
  CHECK(f.caller_.done.empty());
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.got == lines{R"({"action":"cancel"})"});
  CHECK(find_member(f.event("answer"), "expired").is_true());
  f.time.advance(milliseconds(999));
  f.settle();
  CHECK(f.caller_.done.empty());  // the run's own time goes on from where it stood
  f.end();
}

TEST_CASE("L19: a question that its server withdraws is closed for all clients and later answers come too late") {
  questioned f;
  const auto run = f.run();
  const auto ticket = f.ask();
  f.withdraw(ticket);
  CHECK(find_member(f.event("answer"), "withdrawn").is_true());
  CHECK(f.got.empty());
  CHECK(f.answer(run, R"({"action":"decline"})").find("no question") != std::string::npos);
  f.end();
}

TEST_CASE("L19: a call that ends takes its server's questions with it") {
  questioned f;
  const auto run = f.run();
  f.ask();
  f.ask();
  f.end();
  CHECK(f.got.empty());
  CHECK(f.answer(run, R"({"action":"decline"})").find("no run") != std::string::npos);
}

TEST_CASE("L19: a cancelled run answers no server any more") {
  questioned f;
  const auto run = f.run();
  f.ask();
  CHECK(f.runs->cancel(run, "enough", {}));
  f.settle();
  CHECK(f.got.empty());
  CHECK(f.caller_.member("stopReason") == "cancelled");
}

TEST_CASE("L17 L19: a client that attaches later sees the open question of a server and may answer it") {
  questioned f;
  auto r = fixture::ask();
  r.run = "night";
  r.detach = true;
  REQUIRE(f.runs->start(std::move(r)).has_value());
  f.settle();
  f.ask();
  f.caller_.read(**f.runs->find("night"));
  f.settle();
  CHECK(f.answer("night", R"({"action":"accept","content":{"age":1}})") == "");
  CHECK(f.got.size() == 1);
  f.end();
}

TEST_CASE("L19: a question that is none is refused to its server and shown to nobody") {
  questioned f;
  f.run();
  f.ask(R"({"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}})");
  CHECK(contains(f.got.at(0), "-32602"));
  CHECK(f.caller_.of("question").empty());
  f.ask(R"({"message":"m","mode":"url","url":"file:///etc"})");
  CHECK(contains(f.got.at(1), "url is no address of http or https"));
  f.end();
}

TEST_CASE("L19: a run has at most 64 questions of servers open") {
  questioned f;
  f.run();
  for (int i = 0; i < 65; ++i) f.ask();
  CHECK(f.caller_.of("question").size() == 64);
  CHECK(f.got.size() == 1);
  CHECK(contains(f.got.at(0), "too many questions are open"));
  f.end();
}

TEST_CASE("mcpbx answers a server's roots during a run itself and tells it what can be answered") {
  questioned f;
  f.answering->servers = {
      {"srv", sampling_rule{"scripted", 10, 5}, raw_json::literal(R"({"roots":[{"uri":"file:///a"}]})")}};
  f.run();
  CHECK(f.server->open.begin()->second.principal.empty());
  CHECK(f.server->open.begin()->second.caller.capabilities.text() ==
        R"({"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}})");
  f.ask("{}", "roots/list");
  CHECK(f.got == lines{R"({"roots":[{"uri":"file:///a"}]})"});
  f.ask("{}", "tools/list");
  CHECK(contains(f.got.at(1), "-32601"));
  f.end();
}

TEST_CASE("sampling during a run is answered by a model of ours and asks for a yes where approve says so") {
  constexpr std::string_view request =
      R"({"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":5})";
  questioned f;
  f.answering->servers = {{"srv", sampling_rule{"quick", 10, 5}, {}}};
  f.answering->models = [&](std::string_view) -> result<std::shared_ptr<providers::model>> { return f.quick; };
  f.quick->script = {says("one"), says("two"), says("three")};
  auto r = fixture::ask();
  r.trace = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1"};
  f.run(r);
  f.ask(request, "sampling/createMessage");
  REQUIRE(f.got.size() == 1);
  REQUIRE(f.quick->requests.size() == 1);
  CHECK(f.quick->requests[0].trace == r.trace);
  CHECK(contains(f.got[0], "\"text\":\"one\""));
  CHECK(f.caller_.of("question").empty());
  f.end();
}

TEST_CASE("a sampling request that needs a yes is a question of kind approval and always covers the next one") {
  constexpr std::string_view request =
      R"({"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":5})";
  questioned f;
  f.servers = {{"srv", {}, {}, {"sampling/*"}}};
  f.configured = f.configure();
  f.answering->servers = {{"srv", sampling_rule{"quick", 10, 5}, {}}};
  f.answering->models = [&](std::string_view) -> result<std::shared_ptr<providers::model>> { return f.quick; };
  f.quick->script = {says("one"), says("two")};
  const auto run = f.run();
  f.ask(request, "sampling/createMessage");
  const auto event = f.event();
  CHECK(member_text(event, "kind") == "approval");
  CHECK(member_text(event, "tool") == "srv__sampling/createMessage");
  CHECK(find_member(event, "arguments").text() == request);
  CHECK(f.answer(run, R"({"action":"accept"})").find("expected true or false") != std::string::npos);
  CHECK(f.answer(run, R"({"approve":false})") == "");
  CHECK(f.got == lines{R"({"code":-1,"message":"the user refused it"})"});
  f.ask(request, "sampling/createMessage");
  CHECK(f.answer(run, R"({"approve":true,"always":true})") == "");
  CHECK(contains(f.got.at(1), "\"text\":\"one\""));
  f.ask(request, "sampling/createMessage");
  CHECK(contains(f.got.at(2), "\"text\":\"two\""));
  CHECK(f.caller_.of("question").size() == 2);
  f.end();
}

TEST_CASE(
    "a sampling request that needs a yes is refused in a run that may not ask and needs none where all is approved") {
  for (const auto mode : {approval_mode::none, approval_mode::all}) {
    questioned f;
    f.servers = {{"srv", {}, {}, {"sampling/*"}}};
    f.configured = f.configure();
    f.answering->servers = {{"srv", sampling_rule{"quick", 10, 5}, {}}};
    f.answering->models = [&](std::string_view) -> result<std::shared_ptr<providers::model>> { return f.quick; };
    auto r = fixture::ask();
    r.limits.approve = mode;
    f.run(std::move(r));
    f.ask(R"({"messages":[]})", "sampling/createMessage");
    REQUIRE(f.got.size() == 1);
    CHECK(contains(f.got[0], mode == approval_mode::none ? "who cannot be asked" : "messages is empty"));
    f.end();
  }
}
