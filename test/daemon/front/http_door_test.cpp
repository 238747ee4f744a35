// The door over real sockets: the first byte decides, and Chat Completions are runs. The test is the caller; the daemon
// behind the door is a script.
#include "daemon/front/front_door.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "test/daemon/front/door_on_sockets.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::run;
using namespace mcpbx::json;
using namespace mcpbx::test;
using namespace std::chrono_literals;

namespace {

// Answers when the test does.
struct slow_directory final : model_directory {
  void list(const std::string&, bool, std::function<void(result<std::vector<model_row>>)> then) override {
    done.push_back(std::move(then));
  }
  std::size_t max_tools(std::string_view, std::string_view) const override { return 0; }
  std::vector<std::function<void(result<std::vector<model_row>>)>> done;
};

}  // namespace

TEST_CASE("D1: the first byte of a connection tells JSON-RPC from HTTP, blanks before it tell nothing") {
  door_on_sockets d;
  const int rpc = d.enter(), web = d.enter(), silent = d.enter(), gone = d.enter();
  CHECK(d.door.callers() == 4);
  d.write(rpc, " \r\n");
  d.write(rpc, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
  CHECK(d.got(rpc) == "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
  d.write(web, "\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(d.got(web).starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(d.got(silent).empty());
  d.leave(gone);
  CHECK(d.door.callers() == 3);
  d.door.close();
  CHECK(d.got(silent) == "<end>");
}

TEST_CASE("G18: callers of every protocol count, and the one too many is told so") {
  door_on_sockets d(2);
  d.enter();
  const int on_port = d.enter(true);
  d.write(on_port, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
  CHECK(d.got(on_port).starts_with("HTTP/1.1 200 "));
  CHECK(contains(d.got(d.enter()), "mcpbx serves 2 callers already"));
  d.write(on_port, "GET /v1/mod");
  CHECK(d.got(d.enter(true)).starts_with("HTTP/1.1 503 "));
  CHECK(contains(d.door.status().text(), "\"refused\":2"));
}

TEST_CASE("G18: on a full port the caller that waits longest between two requests gives way to the next one") {
  door_on_sockets d(4);
  const std::string good =
      "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n";
  const int first = d.enter(true), second = d.enter(true);
  for (const int fd : {second, first}) {
    d.write(fd, good);
    CHECK(d.got(fd).starts_with("HTTP/1.1 200 "));
    d.time.advance(1s);
  }
  const int third = d.enter(true);
  CHECK(d.got(second) == "<end>");
  for (const int fd : {first, third}) {
    d.write(fd, good);
    CHECK(d.got(fd).starts_with("HTTP/1.1 200 "));
  }
}

TEST_CASE("G18: who says nothing on the port takes no place from the socket and gives way, the oldest first") {
  door_on_sockets d(8);
  const std::string good =
      "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n";
  const int known = d.enter(true);
  d.write(known, good);
  CHECK(d.got(known).starts_with("HTTP/1.1 200 "));
  std::vector<int> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(d.enter(true));
  d.write(silent.back(), "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n");  // without the token it stays unknown
  CHECK(d.got(silent.back()).starts_with("HTTP/1.1 401 "));
  CHECK(d.door.callers() <= 4);
  for (int i = 0; i < 36; ++i) CHECK(d.got(silent[static_cast<std::size_t>(i)]) == "<end>");
  CHECK(d.got(silent[38]).empty());
  // The socket has its half, and who is known on the port stays.
  for (int i = 0; i < 4; ++i) {
    const int mine = d.enter();
    d.write(mine, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    CHECK(contains(d.got(mine), "\"result\":{}"));
  }
  d.write(known, good);
  CHECK(d.got(known).starts_with("HTTP/1.1 200 "));
}

TEST_CASE("G43: a caller on the port has 5 s for a request that may be answered") {
  door_on_sockets d;
  const int silent = d.enter(true), slow = d.enter(true), wrong = d.enter(true), known = d.enter(true);
  d.write(slow, "GET /v1/mod");
  d.write(wrong, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer nonsense\r\n\r\n");
  CHECK(d.got(wrong).starts_with("HTTP/1.1 401 "));
  d.write(known, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
  CHECK(d.got(known).starts_with("HTTP/1.1 200 "));
  d.time.advance(4999ms);
  CHECK(d.got(silent).empty());
  d.time.advance(1ms);
  CHECK(d.got(silent) == "<end>");
  CHECK(d.got(slow) == "<end>");
  CHECK(d.got(known).empty());
  CHECK(d.door.callers() == 1);
}

TEST_CASE("G42: on the port it is asked who it is before the first answer, with a token or without") {
  for (const bool token : {true, false}) {
    door_on_sockets d;
    d.door.serves_port("127.0.0.1:1", {.on_port = true, .token = token ? "0123456789abcdef" : ""}, "",
                       [](const mcp::socket::tcp_ends&, const std::function<void(result<std::string>)>&) {
                         FAIL("a socket pair has no ends of TCP");
                       });
    const int fd = d.enter(true);
    d.write(fd, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
    const auto answer = d.got(fd);
    CHECK(answer.starts_with("HTTP/1.1 403 "));
    CHECK(contains(answer, "cannot be told"));
    d.write(fd, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
    CHECK_FALSE(contains(d.got(fd), "200 OK"));
  }
}

TEST_CASE("G43: a port answers nothing without the token, paths and methods are told apart, and bodies are JSON") {
  door_on_sockets d;
  const auto asked = [&](const std::string& head, bool on_port = true) {
    const auto answer = [&] {
      const int fd = d.enter(on_port);
      d.write(fd, head);
      return d.got(fd);
    }();
    CHECK(answer.starts_with("HTTP/1.1 "));
    return answer.substr(9, 3);
  };
  const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
  CHECK(asked("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n") == "401");
  CHECK(asked("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n") == "200");
  CHECK(asked("GET /v1/models HTTP/1.1\r\nHost: evil\r\n" + token + "\r\n") == "403");
  CHECK(asked("OPTIONS /v1/models HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n") == "405");
  CHECK(asked("GET /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n", false) == "405");
  CHECK(asked("GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n", false) == "404");
  CHECK(asked("GET /v1/modelsx HTTP/1.1\r\nHost: x\r\n\r\n", false) == "404");
  CHECK(
      asked("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
            false) == "415");
  CHECK(asked(door_on_sockets::post("{"), false) == "400");
  CHECK(asked(door_on_sockets::post("{}"), false) == "400");
  CHECK(asked(door_on_sockets::post(R"({"model":"nope","messages":[{"role":"user","content":"x"}]})"), false) == "404");
  CHECK(d.backend.started.empty());
  // Somebody who speaks JSON-RPC to the port is told in HTTP.
  CHECK(asked("{\"jsonrpc\":\"2.0\"}\r\n\r\n") == "400");
}

TEST_CASE("a fault over HTTP repeats a stranger's path cut, and without what would not show") {
  door_on_sockets d;
  for (const std::string method : {"GET", "DELETE"})
    for (const std::string path : {"/v1/models/", "/none/"}) {
      CAPTURE(method + path);
      const int fd = d.enter(false);
      d.write(fd,
              method + " " + path + "%E2%80%AE" + std::string(10'000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const auto answer = d.got(fd);
      CHECK(answer.starts_with("HTTP/1.1 40"));
      CHECK(answer.size() < 1'000);
      CHECK_FALSE(contains(answer, "\u202e"));
      CHECK_FALSE(contains(answer, "\xE2\x80\xAE"));
    }
}

TEST_CASE("D2: an answer has the text of all rounds as paragraphs, the connection is kept") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked());
  REQUIRE(d.backend.started.size() == 1);
  CHECK(d.backend.started[0].principal == "uid:1000");
  d.round(1);
  d.text("Let me ");
  d.text("see.");
  d.turn();
  d.round(2);
  d.round(3);
  d.text("42.");
  CHECK(d.got(web).empty());
  d.done(R"("stopReason":"final","text":"42.")");
  const auto answer = d.got(web);
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(contains(answer, "x-request-id: run-1\r\n"));
  CHECK(contains(answer, R"("content":"Let me see.\n\n42.")"));
  d.write(web, "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(d.got(web).starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("D2: a stream begins with the role, has each part as it comes and ends with one reason and [DONE]") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked(R"(,"stream":true)"));
  d.round(1);
  CHECK(d.got(web).empty());  // a run that fails before its first word is answered with a status
  d.text("one");
  auto all = d.got(web);
  CHECK(contains(all, "text/event-stream"));
  CHECK(contains(all, R"("delta":{"role":"assistant")"));
  CHECK(contains(all, R"("delta":{"content":"one"})"));
  d.round(2);
  d.text("two");
  d.done(R"("stopReason":"truncated","text":"two")");
  all += d.got(web);
  const auto body = joined(all);
  CHECK(contains(body, R"("delta":{"content":"\n\ntwo"})"));
  CHECK(contains(body, R"("delta":{},"logprobs":null,"finish_reason":"length"}]})"));
  CHECK(body.ends_with("\n\ndata: [DONE]\n\n"));
  CHECK_FALSE(contains(body, "usage"));
}

TEST_CASE("D2: a request sent beside a stream is answered behind it, on the same connection") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked(R"(,"stream":true)") + "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
  d.text("one");
  auto all = d.got(web);
  CHECK_FALSE(contains(all, "\"list\""));
  d.done(R"("stopReason":"final","text":"one")");
  all += d.got(web);
  const auto end = all.find("data: [DONE]\n\n\r\n0\r\n\r\n"), list = all.find("\"object\":\"list\"");
  REQUIRE(end != std::string::npos);
  REQUIRE(list != std::string::npos);
  CHECK(end < list);
  CHECK_FALSE(contains(all, "Connection: close"));
  d.write(web, door_on_sockets::asked(R"(,"stream":true)"));  // and streams again
  d.feed("run-2").push({run_event::kind::text, {}, "two", {}});
  CHECK(contains(d.got(web), R"("delta":{"content":"two"})"));
}

TEST_CASE("D2: streams on several connections of one caller live beside each other and beside its other requests") {
  door_on_sockets d;
  const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
  const int first = d.enter(true), second = d.enter(true), other = d.enter(true);
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true})";
  d.write(first, door_on_sockets::post(body, token));
  d.write(second, door_on_sockets::post(body, token));
  d.text("one");
  d.feed("run-2").push({run_event::kind::text, {}, "two", {}});
  CHECK(contains(d.got(first), R"("delta":{"content":"one"})"));
  CHECK(contains(d.got(second), R"("delta":{"content":"two"})"));
  for (int i = 0; i < 3; ++i) {
    d.write(other, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n");
    CHECK(d.got(other).starts_with("HTTP/1.1 200 OK\r\n"));
  }
  d.done(R"("stopReason":"final","text":"one")");
  CHECK(contains(d.got(first), "[DONE]"));
  CHECK(d.got(second).empty());  // its stream goes on
  d.leave(first);
  d.feed("run-2").push({run_event::kind::text, {}, "three", {}});
  CHECK(contains(d.got(second), R"("delta":{"content":"three"})"));
}

TEST_CASE("D2: a run that fails is an error by status before its first word, and a frame without [DONE] after it") {
  door_on_sockets d;
  const int early = d.enter();
  d.write(early, door_on_sockets::asked(R"(,"stream":true)"));
  d.feed().push({run_event::kind::error, {}, {}, daemon::event_json::error("busy", true, false)});
  d.done(R"("stopReason":"provider_error","text":"","reason":"The model is busy.","toolCalls":[{"id":"a"}])");
  auto answer = d.got(early);
  CHECK(answer.starts_with("HTTP/1.1 503 "));
  CHECK(contains(answer, "x-should-retry: false\r\n"));  // its tools have run
  CHECK(contains(answer, R"({"error":{"message":"The model is busy.","type":"server_error")"));
  const int late = d.enter();
  d.write(late, door_on_sockets::asked(R"(,"stream":true)"));
  d.feed("run-2").push({run_event::kind::text, {}, "one", {}});
  d.turn();
  d.feed("run-2").done(raw_json::own(R"({"stopReason":"provider_error","text":"","reason":"It broke."})"));
  const auto body = joined(d.got(late));
  CHECK(body.ends_with(
      R"(data: {"error":{"message":"It broke.","type":"server_error","param":null,"code":"provider_error"}})"
      "\n\n"));
  CHECK_FALSE(contains(body, "[DONE]"));
  CHECK_FALSE(contains(body, "\"finish_reason\":\""));
}

TEST_CASE(
    "D2: a model that failed is not to be asked again by clients, who are told the wait that its endpoint asked for") {
  door_on_sockets d;
  const auto answer_after = [&](const std::string& run, const segments& error) {
    const int web = d.enter();
    d.write(web, door_on_sockets::asked());
    d.feed(run).push({run_event::kind::error, {}, {}, error});
    d.feed(run).done(raw_json::own(R"({"stopReason":"provider_error","text":"","reason":"It failed."})"));
    return d.got(web);
  };
  const auto wrong_key = answer_after("run-1", daemon::event_json::error("It failed.", false, false));
  CHECK(wrong_key.starts_with("HTTP/1.1 502 "));
  CHECK(contains(wrong_key, "x-should-retry: false\r\n"));
  CHECK_FALSE(contains(wrong_key, "retry-after"));
  const auto busy = answer_after("run-2", daemon::event_json::error("It failed.", true, false, 1'001));
  CHECK(busy.starts_with("HTTP/1.1 503 "));
  CHECK(contains(busy, "x-should-retry: false\r\n"));
  CHECK(contains(busy, "retry-after: 2\r\n"));
}

TEST_CASE("L18: a caller that leaves leaves its run, before the first word and in the middle of a stream") {
  door_on_sockets d;
  const int first = d.enter();
  d.write(first, door_on_sockets::asked());
  d.leave(first);
  CHECK(d.backend.abandoned == std::vector<std::string>{"run-1: the caller went away"});
  const int second = d.enter();
  d.write(second, door_on_sockets::asked(R"(,"stream":true)"));
  d.feed("run-2").push({run_event::kind::text, {}, "one", {}});
  d.turn();
  d.leave(second);
  CHECK(d.backend.abandoned.size() == 2);
  CHECK(d.door.callers() == 0);
}

TEST_CASE("L21: results go on with the run that waits for them, without one the conversation begins a new run") {
  door_on_sockets d;
  const int web = d.enter();
  const std::string tools = R"(,"tools":[{"type":"function","function":{"name":"mine"}}]})";
  const std::string question = R"({"model":"m","messages":[{"role":"user","content":"hi"})";
  const std::string back =
      R"(,{"role":"assistant","tool_calls":[{"id":"b","type":"function","function":{"name":"mine","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"b","content":"r"})";
  d.write(web, door_on_sockets::post(question + "]" + tools));
  d.done(
      R"("stopReason":"caller_tools","text":"","toolCalls":[{"id":"b","name":"mine","arguments":{},"pending":true}])");
  const auto first = d.got(web);
  CHECK(contains(first, R"("finish_reason":"tool_calls")"));
  CHECK(contains(first, R"("id":"chatcmpl-run-1",)"));
  CHECK(d.backend.abandoned.empty());
  d.feed().reopen();
  d.write(web, door_on_sockets::post(question + back + "]" + tools));
  CHECK(d.backend.started.size() == 1);  // the script gives the feed of the run that it knows
  d.text("so");
  d.done(R"("stopReason":"final","text":"so")", 6, 9);
  const auto last = d.got(web);
  CHECK_MESSAGE(contains(last, R"("content":"so")"), last);
  // It is an answer of its own, with the tokens that the answer before it did not count.
  CHECK_FALSE(contains(last, R"("id":"chatcmpl-run-1",)"));
  CHECK_MESSAGE(contains(last, R"("prompt_tokens":5,"completion_tokens":7,)"), last);
  d.write(web, door_on_sockets::post(question + back + "]" + tools));
  REQUIRE(d.backend.started.size() == 2);
  CHECK(d.backend.started[1].messages.size() == 3);
  CHECK(d.backend.started[1].results.empty());
}

TEST_CASE("D2: results with tool_choice none do not go on with a run that may call again") {
  door_on_sockets d;
  const int web = d.enter();
  const std::string tools = R"(,"tools":[{"type":"function","function":{"name":"mine"}}])";
  const std::string question = R"({"model":"m","messages":[{"role":"user","content":"hi"})";
  d.write(web, door_on_sockets::post(question + "]" + tools + "}"));
  d.done(
      R"("stopReason":"caller_tools","text":"","toolCalls":[{"id":"b","name":"mine","arguments":{},"pending":true}])");
  CHECK(contains(d.got(web), R"("finish_reason":"tool_calls")"));
  d.write(web, door_on_sockets::post(
                   question +
                   R"(,{"role":"assistant","tool_calls":[{"id":"b","type":"function","function":{"name":"mine",)"
                   R"("arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":"r"}])" +
                   tools + R"(,"tool_choice":"none"})"));
  REQUIRE(d.backend.started.size() == 2);
  CHECK(d.backend.started[1].limits.max_rounds == 0);
  CHECK(d.backend.started[1].messages.size() == 3);
}

TEST_CASE(
    "D2: tool_choice may name the caller's functions and ours, and is refused where nobody has one of that name") {
  door_on_sockets d;
  const auto naming = [](const std::string& name) {
    return door_on_sockets::asked(R"(,"tools":[{"type":"function","function":{"name":"mine"}}],)"
                                  R"("tool_choice":{"type":"function","function":{"name":")" +
                                  name + "\"}}");
  };
  const int web = d.enter(), late = d.enter(), gone = d.enter();
  d.write(d.enter(), naming("mine"));
  CHECK(d.backend.started.size() == 1);
  // A server that is starting may bring it.
  d.write(web, naming("files__read"));
  d.write(late, naming("files__late"));
  d.write(gone, naming("files__late"));
  d.leave(gone);
  CHECK(d.backend.started.size() == 1);
  auto entry = std::make_shared<mcp::catalogs::catalog_entry>();
  entry->name = "files__late";
  d.backend.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{entry}, 2);
  for (const auto& then : std::exchange(d.backend.waiting, {})) then();
  const auto refused = d.got(web);
  CHECK(refused.starts_with("HTTP/1.1 400 "));
  CHECK(contains(refused, R"("type":"invalid_request_error","param":"tool_choice")"));
  CHECK(contains(refused, R"(got \"files__read\")"));
  REQUIRE(d.backend.started.size() == 2);
  CHECK(d.backend.started[1].first_round_tool == "files__late");
  d.write(d.enter(), naming("files__late"));
  CHECK(d.backend.started.size() == 3);
}

TEST_CASE("D2: allowed_tools that name functions which nobody has are refused with their names") {
  door_on_sockets d;
  const auto allowing = [](const std::string& names) {
    std::string list;
    for (const auto& name : {std::string("mine"), names})
      list += (list.empty() ? "" : ",") + (R"({"type":"function","function":{"name":")" + name) + "\"}}";
    return door_on_sockets::asked(R"(,"tools":[{"type":"function","function":{"name":"mine"}}],"tool_choice":{"type":)"
                                  R"("allowed_tools","allowed_tools":{"mode":"auto","tools":[)" +
                                  list + "]}}");
  };
  const int web = d.enter();
  d.write(d.enter(), allowing("mine"));
  CHECK(d.backend.started.size() == 1);
  d.write(web, allowing("files__read"));
  CHECK(d.backend.started.size() == 1);
  for (const auto& then : std::exchange(d.backend.waiting, {})) then();
  const auto refused = d.got(web);
  CHECK(refused.starts_with("HTTP/1.1 400 "));
  CHECK(contains(refused, R"("type":"invalid_request_error","param":"tool_choice")"));
  CHECK(contains(refused, R"(lists them), got \"files__read\"")"));
  // Neither many names nor long ones come back whole.
  std::string many = "n1";
  for (int i = 2; i <= 30; ++i) many += R"("}},{"type":"function","function":{"name":"n)" + std::to_string(i);
  const int crowd = d.enter(), lengthy = d.enter();
  d.write(crowd, allowing(many));
  d.write(lengthy, allowing(std::string(50'000, 'n')));
  for (const auto& then : std::exchange(d.backend.waiting, {})) then();
  CHECK(contains(d.got(crowd), R"(\"n10\" and 20 more")"));
  CHECK(d.got(lengthy).size() < 1'000);
  auto entry = std::make_shared<mcp::catalogs::catalog_entry>();
  entry->name = "files__read";
  d.backend.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{entry}, 2);
  d.write(d.enter(), allowing("files__read"));
  REQUIRE(d.backend.started.size() == 2);
  CHECK(d.backend.started[1].tools.only == std::vector<std::string>{"mine", "files__read"});
}

TEST_CASE("D2: JSON that was asked for comes whole, without the words beside calls") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked(R"(,"stream":true,"response_format":{"type":"json_object"})"));
  d.text("Let me see.");
  d.turn();
  d.done(R"("stopReason":"final","text":"{ \"a\": 1 }","data":{"a":1})");
  const auto body = joined(d.got(web));
  CHECK(contains(body, R"("delta":{"content":"{\"a\":1}"})"));
  CHECK_FALSE(contains(body, "Let me see."));
}

TEST_CASE("D2: a stream that has nothing to say for 15 s says so, again and again") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked(R"(,"stream":true)"));
  d.time.advance(14'999ms);
  CHECK(d.got(web).empty());
  d.time.advance(1ms);
  CHECK(contains(d.got(web), R"("delta":{"content":""})"));
  d.time.advance(10s);
  d.text("x");
  CHECK(contains(d.got(web), R"("delta":{"content":"x"})"));
  d.time.advance(14'999ms);
  CHECK(d.got(web).empty());
  d.time.advance(1ms);
  CHECK(contains(d.got(web), R"("delta":{"content":""})"));
}

TEST_CASE("G17: a slow reader of a stream holds up nobody, and is told what it has lost") {
  door_on_sockets d;
  d.backend.bound = 100'000;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked(R"(,"stream":true)"));
  for (int i = 0; i < 200; ++i) {
    d.text(std::string(20'000, 'x'));
    d.round(i);
    d.turn();
  }
  CHECK(d.feed().bytes() <= 200'000);
  d.done(R"("stopReason":"final","text":"x")");
  const auto body = joined(d.got(web));
  CHECK(contains(body, "was read too slowly"));
  CHECK_FALSE(contains(body, "[DONE]"));
}

TEST_CASE("G17: a caller that takes nothing of its answer is let go after 30 s, counted, and its run ends") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, door_on_sockets::asked(R"(,"stream":true)"));
  for (int i = 0; i < 40; ++i) {
    d.text(std::string(20'000, 'x'));
    d.round(i);
    d.turn();
  }
  d.time.advance(29'999ms);
  d.turn();
  CHECK(d.door.callers() == 1);
  d.time.advance(1ms);
  d.turn();
  CHECK(d.door.callers() == 0);
  CHECK(d.backend.abandoned.size() == 1);
  CHECK(contains(d.door.status().text(), "\"closedForNotReading\":1"));
}

TEST_CASE("G20: a door that is closing takes no new requests and ends those that go on") {
  door_on_sockets d;
  const int going = d.enter(), late = d.enter();
  d.write(going, door_on_sockets::asked());
  d.door.refuse_calls();
  d.write(late, door_on_sockets::asked());
  CHECK(d.got(late).starts_with("HTTP/1.1 503 "));
  d.done(R"("stopReason":"interrupted","text":"","reason":"mcpbx stopped.")");
  CHECK(d.got(going).starts_with("HTTP/1.1 503 "));
  d.door.close();
  CHECK(d.door.callers() == 0);
}

TEST_CASE("D2: the list of models comes when the directory has it, to callers that are still there") {
  slow_directory models;
  auto d = std::make_unique<door_on_sockets>();
  d->backend.directory_of_models = &models;
  const std::string rest = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const int all = d->enter(), one = d->enter(), wrong = d->enter(), gone = d->enter(), last = d->enter();
  d->write(all, "GET /v1/models" + rest);
  d->write(one, "GET /v1/models/a%20b%2Fc?x=1" + rest + "GET /v1/models" + rest);
  d->write(wrong, "GET /v1/models/none" + rest);
  d->write(gone, "GET /v1/models" + rest);
  d->leave(gone);
  REQUIRE(models.done.size() == 4);
  std::vector<model_row> rows(2);
  rows[0].name = "m";
  rows[1].name = "a b/c";
  for (auto& then : std::exchange(models.done, {})) then(rows);
  CHECK(contains(d->got(all), R"("data":[{"id":"m",)"));
  CHECK(contains(d->got(one), R"({"id":"a b/c","object":"model")"));
  CHECK(d->got(wrong).starts_with("HTTP/1.1 404 "));
  // The request behind the first, the directory that fails, and the door that goes meanwhile.
  REQUIRE(models.done.size() == 1);
  models.done[0](fail(errc::unavailable, "no directory"));
  CHECK(contains(d->got(one), "no directory"));
  d->write(last, "GET /v1/models" + rest);
  REQUIRE(models.done.size() == 2);
  d.reset();
  models.done[1](rows);
}

TEST_CASE("L21: the door may close in the cancelling of the run that gives way to a newer one") {
  for (const std::string stream : {"false", "true"}) {
    CAPTURE(stream);
    door_on_sockets d;
    const int web = d.enter();
    const auto ask = [&](const std::string& run) {
      d.write(web, door_on_sockets::post(R"({"messages":[{"role":"user","content":")" + run + R"("}],"stream":)" +
                                         stream + R"(,"tools":[{"type":"function","function":{"name":"mine"}}]})"));
    };
    const auto hand_back = [&](const std::string& run) {
      d.feed(run).done(raw_json::own(
          R"({"run":")" + run +
          R"(","stopReason":"caller_tools","text":"","toolCalls":[{"id":"b","name":"mine","arguments":{},"pending":true}]})"));
      return d.got(web);
    };
    for (int n = 1; n <= 256; ++n) {
      ask("run-" + std::to_string(n));
      REQUIRE(contains(hand_back("run-" + std::to_string(n)), R"("finish_reason":"tool_calls")"));
    }
    ask("run-257");
    d.backend.called = [&] { d.door.close(); };
    CHECK(hand_back("run-257") == "<end>");
    CHECK(d.backend.cancelled == std::vector<std::string>{"run-1"});
    d.backend.called = {};
  }
}
