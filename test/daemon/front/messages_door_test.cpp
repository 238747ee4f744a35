// The Messages API over real sockets: one request is one run, and the caller's own tools go on with it.
#include "test/daemon/front/door_on_sockets.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace mcpbx;
using namespace mcpbx::test;
using namespace std::chrono_literals;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::messages_door {

std::string message(const std::string& members, const std::string& headers = "") {
  return door_on_sockets::post("{" + members + "}", "anthropic-version: 2023-06-01\r\n" + headers, "/v1/messages");
}

const std::string question = R"("model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"})";

TEST_CASE("D2: messages: an answer has the text of each round, the usage and the id of its run") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, message(question + "]"));
  d.round(1);
  d.text("one");
  d.round(2);
  d.text("two");
  d.done(R"("stopReason":"final","text":"two")");
  const auto got = d.got(web);
  CHECK_MESSAGE(contains(got, "HTTP/1.1 200"), got);
  CHECK(contains(got, "request-id: run-1"));
  CHECK(contains(got, R"({"id":"msg_run-1","type":"message","role":"assistant","model":"m",)"
                      R"("content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],)"
                      R"("stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,)"));
}

TEST_CASE("D2: messages: a stream says ping after 15 s of silence, and a caller that leaves ends its run") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, message(question + R"(],"stream":true)"));
  d.time.advance(15'000ms);
  const auto silent = d.got(web);
  CHECK_MESSAGE(contains(silent, "event: message_start\n"), silent);
  CHECK(contains(silent, "event: ping\ndata: {\"type\":\"ping\"}\n\n"));
  d.text("so");
  CHECK(contains(d.got(web), R"("delta":{"type":"text_delta","text":"so"})"));
  d.leave(web);
  CHECK(d.backend.abandoned.size() == 1);
}

TEST_CASE("D2: messages: results of the caller's tools go on with the run that waits for them") {
  door_on_sockets d;
  const int web = d.enter();
  const std::string tools = R"(,"tools":[{"name":"mine","input_schema":{"type":"object"}}])";
  d.write(web, message(question + "]" + tools));
  d.done(
      R"("stopReason":"caller_tools","text":"","toolCalls":[{"id":"b","name":"mine","arguments":{},"pending":true}])");
  const auto first = d.got(web);
  CHECK_MESSAGE(contains(first, R"("content":[{"type":"tool_use","id":"b","name":"mine","input":{}}])"), first);
  CHECK(contains(first, R"("stop_reason":"tool_use")"));
  d.feed().reopen();
  d.write(web, message(question +
                       R"(,{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"mine","input":{}}]},)"
                       R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"r"}]}])" +
                       tools));
  CHECK(d.backend.started.size() == 1);  // the script gives the feed of the run that it knows
  d.text("so");
  d.done(R"("stopReason":"final","text":"so")", 6, 9);
  const auto last = d.got(web);
  CHECK_MESSAGE(contains(last, R"("text":"so")"), last);
  CHECK_MESSAGE(contains(last, R"("output_tokens":7)"), last);
}

TEST_CASE("D2: messages: every refusal has the form of that API: body, path, method, token and a run that fails") {
  door_on_sockets d;
  const auto answer = [&](const std::string& request) {
    const int web = d.enter();
    d.write(web, request);
    return d.got(web);
  };
  const auto bad = answer(message(R"("messages":[{"role":"user","content":"hi"}],"temperature":9)"));
  CHECK_MESSAGE(contains(bad, "HTTP/1.1 400"), bad);
  CHECK(contains(bad, R"({"type":"error","error":{"type":"invalid_request_error","message":"temperature: )"));
  CHECK(contains(bad, R"("param":"temperature")"));
  CHECK(contains(answer(door_on_sockets::post("{", "", "/v1/messages")), R"({"type":"error","error":{)"));
  CHECK(contains(answer("GET /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n"), R"({"type":"error","error":{)"));
  const auto counted = answer(door_on_sockets::post("{}", "", "/v1/messages/count_tokens"));
  CHECK(contains(counted, "HTTP/1.1 404"));
  CHECK(contains(counted, R"("type":"not_found_error","message":"mcpbx counts no tokens)"));
  const auto key = [&](const std::string& header) {
    const int port = d.enter(true);
    d.write(port, message(R"("messages":[])", header));
    return d.got(port);
  };
  CHECK(contains(key(""), R"("type":"authentication_error")"));
  CHECK(contains(key("x-api-key: 0123456789abcdeX\r\n"), "HTTP/1.1 401"));
  CHECK(contains(key("x-api-key: 0123456789abcdef\r\n"), "HTTP/1.1 400"));
  CHECK(contains(key("Authorization: Bearer 0123456789abcdef\r\n"), "HTTP/1.1 400"));
  CHECK(contains(key("x-api-key: \r\n"), "HTTP/1.1 401"));
  const int web = d.enter();
  d.write(web, message(question + "]"));
  d.done(R"("stopReason":"timeout","reason":"Too slow.")");
  const auto late = d.got(web);
  CHECK_MESSAGE(contains(late, "HTTP/1.1 504"), late);
  CHECK(contains(late, R"({"type":"error","error":{"type":"timeout_error","message":"Too slow."}})"));
}

}  // namespace mcpbx::test::messages_door
