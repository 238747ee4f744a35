// The Responses API over real sockets: one request is one run, which later ones go on from by its id.
#include "test/daemon/front/door_on_sockets.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::test;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::responses_door {

std::string response(const std::string& members) {
  return door_on_sockets::post("{" + members + "}", "", "/v1/responses");
}

// Keeps one session, whose latest run the test names.
struct one_session final : journal {
  std::unique_ptr<run_journal> open_run(const std::string&) override { return nullptr; }
  void read_session(std::string session, answer<session_contents> then) override {
    if (session != "ses") return then(fail(errc::not_found, "no session"));
    session_contents c;
    c.row.principal = "uid:1000";
    c.runs.emplace_back().row.run = latest;
    then(std::move(c));
  }
  std::string latest = "run-1";
};

const std::string tools = R"(,"tools":[{"type":"function","name":"mine"}])";
const std::string handed =
    R"("stopReason":"caller_tools","text":"","toolCalls":[{"id":"b","name":"mine","arguments":{},"pending":true}])";

TEST_CASE("D2: responses: an answer is a response object, a stream ends with one, a fault has its param") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, response(R"("model":"m","input":"hi")"));
  d.text("one");
  d.done(R"("stopReason":"final","text":"one")");
  const auto got = d.got(web);
  CHECK_MESSAGE(contains(got, R"({"id":"resp_run-1","object":"response",)"), got);
  CHECK(contains(got, R"("status":"completed")"));
  d.write(web, response(R"("input":"hi","stream":true)"));
  d.feed("run-2").push({run_event::kind::text, {}, "so", {}});
  d.feed("run-2").done(raw_json::literal(R"({"run":"run-2","stopReason":"final","text":"so"})"));
  const auto stream = d.got(web);
  CHECK_MESSAGE(contains(stream, R"({"type":"response.created","sequence_number":0,"response":{"id":"resp_run-2")"),
                stream);
  CHECK(contains(stream, "event: response.completed\n"));
  d.write(web, response(R"("input":"hi","temperature":9)"));
  CHECK(contains(d.got(web), R"("type":"invalid_request_error","param":"temperature")"));
  d.write(web, response(R"("input":"hi","stream":true)"));
  d.leave(web);
  CHECK(d.backend.abandoned.size() == 1);
}

TEST_CASE("D2: responses: outputs go on with the run, by items, by references to them and by the response's id") {
  const std::string items = R"({"type":"function_call","call_id":"b","name":"mine","arguments":"{}"},)";
  const std::string references = R"({"type":"item_reference","id":"fc_run-1_0"},)";
  const std::string output = R"({"type":"function_call_output","call_id":"b","output":"r"}])";
  const std::string question = R"("model":"m","input":[{"role":"user","content":"hi"})";
  for (const auto& next : {question + "," + items + output + tools, question + "," + references + output + tools,
                           R"("model":"m","previous_response_id":"resp_run-1","input":[)" + output}) {
    CAPTURE(next);
    door_on_sockets d;
    const int web = d.enter();
    d.write(web, response(question + "]" + tools));
    d.done(handed);
    CHECK(contains(d.got(web), R"("output":[{"id":"fc_run-1_0","type":"function_call","status":"completed",)"));
    d.feed().reopen();
    d.write(web, response(next));
    CHECK(d.backend.started.size() == 1);
    d.text("so");
    d.done(R"("stopReason":"final","text":"so")", 6, 9);
    const auto last = d.got(web);
    CHECK_MESSAGE(contains(last, R"("text":"so")"), last);
    CHECK(contains(last, R"("output_tokens":7)"));
    // Once more there is nobody who waits for them.
    d.write(web, response(next));
    if (contains(next, "previous_response_id"))
      CHECK(contains(d.got(web), R"("param":"previous_response_id")"));
    else
      CHECK(d.backend.started.size() == 2);
  }
}

TEST_CASE("D2: responses: a response of another caller, or a forgotten one, is none") {
  door_on_sockets d;
  const int web = d.enter();
  const auto answer = [&](const std::string& members) {
    d.write(web, response(members));
    return d.got(web);
  };
  CHECK(contains(answer(R"("input":"on","previous_response_id":"resp_run-9")"), R"("param":"previous_response_id")"));
  CHECK(d.backend.recalled == std::vector<std::string>{"run-9"});
  CHECK(contains(answer(R"("input":[{"type":"item_reference","id":"msg_run-9_0"}])"), R"("param":"input[0].id")"));
  d.write(web, response(R"("input":"hi")"));
  d.done(R"("stopReason":"final","text":"x")");
  d.got(web);
  // Without a journal there is no session to go on with.
  CHECK(contains(answer(R"("input":"on","previous_response_id":"resp_run-1")"), "no session is kept"));
  d.write(web, response(R"("input":"hi")"));
  CHECK(d.backend.started.size() == 2);
}

TEST_CASE("D2: responses: the next question goes on in the session of the response, if that is still its end") {
  auto store = std::make_unique<one_session>();
  auto& kept = *store;
  door_on_sockets d;
  d.backend.kept = std::move(store);
  const int web = d.enter();
  d.write(web, response(R"("model":"m","input":"hi")"));
  d.done(R"("session":"ses","stopReason":"final","text":"x")");
  d.got(web);
  d.write(web, response(R"("model":"m","input":"on","previous_response_id":"resp_run-1")"));
  REQUIRE(d.backend.started.size() == 2);
  CHECK(d.backend.started[1].session == "ses");
  kept.latest = "run-2";
  const int other = d.enter();
  d.write(other, response(R"("input":"on","previous_response_id":"resp_run-1")"));
  CHECK(contains(d.got(other), "another response goes on from that one already"));
}

}  // namespace mcpbx::test::responses_door
