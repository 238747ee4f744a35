// Calls over one session, and the other messages that a server may send.
#include "mcp/client/supervise/tool_result.hpp"
#include "mcp/redact/secret.hpp"
#include "test/mcp/client/session_rig.hpp"

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::redact;
using mcpbx::test::session_rig;

TEST_CASE("a call passes its params, behind our progress token, and its result byte for byte") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box box;
  const auto n = s.call(box, R"({"name":"echo","arguments":{"big":123456789012345678901234567890,"a":1.0,"a":1e400}})");
  CHECK(s.sent.back() ==
        "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(n) +
            R"(,"method":"tools/call","params":{"_meta":{"progressToken":)" + std::to_string(n) +
            R"(},"name":"echo","arguments":{"big":123456789012345678901234567890,"a":1.0,"a":1e400}}})");
  s.answer("tools/call", R"({"content":[],"x":1.50})");
  CHECK(box.times == 1);
  CHECK(box.last.type == call_outcome::kind::result);
  CHECK(box.last.value.text() == R"({"content":[],"x":1.50})");
}

TEST_CASE("G13: answers reach only their own request") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box one, two;
  const auto n = std::to_string(s.call(one)), m = std::to_string(s.call(two));
  const auto response = [&](const std::string& id) {
    s.say("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{\"content\":[],\"for\":" + id + "}}");
  };
  response("\"" + n + "\"");
  response("4711");
  response("-" + n);
  CHECK(one.times + two.times == 0);
  response(m);
  response(m);
  response(n);
  CHECK(one.times == 1);
  CHECK(two.times == 1);
  CHECK(find_member(one.last.value, "for").text() == n);
  CHECK(find_member(two.last.value, "for").text() == m);
  CHECK(s.core.dropped_answers() == 4);
  SUBCASE("a late answer is dropped and counted") {
    session_rig::outcome_box late;
    const auto l = s.call(late);
    s.core.cancel(l, "gone");
    response(std::to_string(l));
    CHECK(late.times == 1);
    CHECK(s.core.counts().late == 1);
  }
}

TEST_CASE("G14: malformed answers with a readable id fail at once") {
  for (const auto* rest : {R"("error":"no")", R"("error":{"code":"x","message":"y"})", R"("result":{},"error":{})",
                           R"("x":1)", R"("result":[])"}) {
    CAPTURE(rest);
    session_rig s;
    s.open_legacy();
    session_rig::outcome_box box;
    const auto n = s.call(box);
    s.say("{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(n) + "," + rest + "}");
    CHECK(box.times == 1);
    CHECK(box.last.failure.code == errc::protocol);
  }
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box box;
  s.say("{\"id\":" + std::to_string(s.call(box)) + ",\"result\":{\"content\":[]}}");
  CHECK(box.times == 1);
}

TEST_CASE("G14: results of tools/call must have their shape") {
  const auto check = [](std::string_view value, era e) { return tool_result_fault(raw_json::own(value), e); };
  for (const auto* good : {R"({"content":[]})", R"({"content":[],"isError":true,"resultType":"whatever"})"})
    CHECK_FALSE(check(good, era::legacy));
  for (const auto* bad : {"{}", R"({"content":"x"})", R"({"content":[],"isError":"no"})",
                          R"({"content":[],"content":[]})", R"({"structuredContent":{}})"}) {
    CAPTURE(bad);
    const auto fault = check(bad, era::legacy);
    REQUIRE(fault);
    CHECK(fault->code == errc::protocol);
    CHECK(fault->message.find("wrong shape") != std::string::npos);
  }
  CHECK_FALSE(check(R"({"resultType":"complete","structuredContent":[1]})", era::modern));
  CHECK_FALSE(check(R"({"content":[]})", era::modern));
  const auto task = check(R"({"content":[],"resultType":"task"})", era::modern);
  REQUIRE(task);
  CHECK(task->message.find("\"task\"") != std::string::npos);
}

TEST_CASE("a question of a modern server ends the call with what was asked") {
  const auto result = raw_json::literal(
      R"({"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Which\u001b one?"}}},"requestState":"x"})");
  const auto fault = tool_result_fault(result, era::modern);
  REQUIRE(fault);
  CHECK(fault->code == errc::peer);
  CHECK(fault->message ==
        "asks for input before it goes on (elicitation/create \"Which one?\"); there is nobody whom mcpbx "
        "could ask for this call");
  CHECK(tool_result_fault(result, era::legacy)->code == errc::protocol);  // no content
}

TEST_CASE("G35: a secret that is longer than what is told of a question or an error does not show in part") {
  const std::string key = "canary-" + std::string(600, 'k');
  redactor::add(secret(key));
  const auto fault = tool_result_fault(
      raw_json::own(R"({"resultType":"input_required","inputRequests":{"a":{"method":"m","params":{"message":"Is )" +
                    key + R"( right?"}}}})"),
      era::modern);
  REQUIRE(fault);
  CHECK(fault->message.find("(m \"Is *** right?\")") != std::string::npos);
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32603);
  s.say(R"({"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Unauthorized: )" + key + R"("}})");
  CHECK(s.refused == "tool server \"srv\" answered initialize with error -32603: Unauthorized: ***");
  redactor::clear();
}

TEST_CASE("G6: progress extends the idle limit, watched or not, and cannot keep a call alive for ever") {
  for (const bool watched : {true, false}) {
    CAPTURE(watched);
    session_rig s;
    s.open_legacy();
    session_rig::outcome_box box;
    const auto n = s.call(box, R"({"name":"echo","_meta":{"progressToken":"theirs","vendor/x":1}})", watched,
                          {milliseconds(1000), milliseconds(10'000)});
    CHECK(s.sent.back().find("\"_meta\":{\"progressToken\":" + std::to_string(n) + ",\"vendor/x\":1}") !=
          std::string::npos);
    int said = 0;
    while (box.times == 0 && said < 100) {
      s.advance(milliseconds(500));
      s.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + std::to_string(n) +
            R"(,"progress":1}})");
      ++said;
    }
    CHECK(said == 20);
    CHECK(box.progress.size() == (watched ? 19 : 0));
    CHECK(box.last.failure.code == errc::timed_out);
    CHECK(box.last.failure.message.find("10 s") != std::string::npos);
  }
}

TEST_CASE("G16: a cancelled and a timed-out call are told to the server") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box one, two;
  const auto n = s.call(one);
  CHECK(s.core.cancel(n, "the caller left"));
  CHECK(s.sent.back() == R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                             std::to_string(n) + R"(,"reason":"the caller left"}})");
  CHECK(one.last.failure.code == errc::cancelled);
  CHECK_FALSE(s.core.cancel(n, "again"));
  const auto m = s.call(two, "{}", false, {milliseconds(100), milliseconds(1000)});
  s.advance(milliseconds(100));
  CHECK(two.last.failure.code == errc::timed_out);
  CHECK(s.sent.back().find("\"requestId\":" + std::to_string(m)) != std::string::npos);
}

TEST_CASE("G5: three time-outs in a row ask for a restart, an answer in between starts over") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box boxes[5];
  const call_limits brief{milliseconds(100), milliseconds(100)};
  const auto time_out = [&](int i) {
    s.call(boxes[i], "{}", false, brief);
    s.advance(milliseconds(100));
    CHECK(boxes[i].times == 1);
  };
  time_out(0);
  time_out(1);
  session_rig::outcome_box answered;
  s.call(answered);
  s.answer("tools/call", R"({"content":[]})");
  time_out(2);
  time_out(3);
  CHECK(s.hangs.empty());
  time_out(4);
  CHECK_FALSE(s.hangs.empty());
}

TEST_CASE("G5: calls that wait side by side are one time-out of a row, however many they are") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box boxes[9];
  const call_limits brief{milliseconds(100), milliseconds(100)};
  for (int batch = 0; batch < 3; ++batch) {
    CHECK(s.hangs.empty());
    s.call(boxes[batch * 3], "{}", false, brief);
    s.call(boxes[batch * 3 + 1], "{}", false, brief);
    s.advance(milliseconds(50));
    s.call(boxes[batch * 3 + 2], "{}", false, brief);
    s.advance(milliseconds(100));
  }
  for (const auto& box : boxes) CHECK(box.times == 1);
  CHECK_FALSE(s.hangs.empty());
}

namespace {

/// The conversation is open; `method` is the request that asks for a sign of life.
void check_signs_of_life(session_rig& s, std::string_view method) {
  const int before = s.count(method);
  const auto time_out = [&] {
    session_rig::outcome_box box;
    s.call(box, "{}", false, {milliseconds(60'000), milliseconds(600'000)});
    s.advance(milliseconds(60'000));
    CHECK(box.last.failure.code == errc::timed_out);
  };
  const auto waits = [&] {
    s.advance(milliseconds(4999));
    CHECK(s.hangs.empty());
  };
  time_out();
  CHECK(s.count(method) == before + 1);
  waits();
  SUBCASE("silence means that it hangs") {
    s.advance(milliseconds(1));
    CHECK(s.hangs == "after a time-out it gave no sign of life for 5 s");
  }
  SUBCASE("an answer keeps it, an error as well, and the next time-out asks again") {
    s.refuse(method, -32601);
    s.advance(milliseconds(60'000));
    CHECK(s.hangs.empty());
    time_out();
    CHECK(s.count(method) == before + 2);
    waits();
    s.advance(milliseconds(1));
    CHECK_FALSE(s.hangs.empty());
  }
  SUBCASE("any other message keeps it, and the late answer to the ping is no stray one") {
    s.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":"busy"}})");
    s.advance(milliseconds(60'000));
    CHECK(s.hangs.empty());
    s.answer(method, "{}");
    CHECK(s.core.dropped_answers() == 0);
  }
  SUBCASE("one that is never answered decides at the next time-out too, without another one") {
    s.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":"busy"}})");
    time_out();
    CHECK(s.count(method) == before + 1);
    waits();
    s.advance(milliseconds(1));
    CHECK_FALSE(s.hangs.empty());
  }
  SUBCASE("a line that is no message does not keep it") {
    message_fault noise;
    noise.type = message_fault::kind::noise;
    s.core.on_fault(noise, s.now);
    s.advance(milliseconds(1));
    CHECK_FALSE(s.hangs.empty());
  }
  SUBCASE("a server that answers nothing but pings still ends after three time-outs in a row") {
    s.answer(method, "{}");
    time_out();
    s.answer(method, "{}");
    CHECK(s.hangs.empty());
    time_out();
    CHECK(s.hangs == "several requests in a row timed out");
  }
}

}  // namespace

TEST_CASE("G5: a time-out asks for no sign of life while an older call may take longer") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box slow, quick;
  s.call(slow, "{}", false, {milliseconds(300'000), milliseconds(600'000)});
  s.call(quick, "{}", false, {milliseconds(60'000), milliseconds(600'000)});
  s.advance(milliseconds(60'000));
  CHECK(quick.last.failure.code == errc::timed_out);
  CHECK(s.count("ping") == 0);
  s.advance(milliseconds(10'000));
  CHECK(s.hangs.empty());
  CHECK(slow.times == 0);
}

TEST_CASE("G5: after a time-out a ping decides within 5 s if the server hangs") {
  session_rig s;
  SUBCASE("legacy") {
    s.open_legacy();
    check_signs_of_life(s, "ping");
  }
  SUBCASE("modern, which has no ping") {
    s.open_modern();
    check_signs_of_life(s, "server/discover");
  }
}

TEST_CASE("a legacy server is answered its ping, and a method that no client has with a sentence") {
  session_rig s;
  s.open_legacy();
  s.say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
  CHECK(s.sent.back() == R"({"jsonrpc":"2.0","id":"p","result":{}})");
  s.say(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}})");
  CHECK(s.sent.back().find(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601)") == 0);
  CHECK(s.sent.back().find("tools/call") != std::string::npos);
}

TEST_CASE("a modern server is never answered") {
  session_rig s;
  s.open_modern();
  const auto before = s.sent.size();
  s.say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
  CHECK(s.sent.size() == before);
  CHECK(s.core.dropped_requests() == 1);
}

TEST_CASE("G10: a flood of requests costs a bounded number of answers") {
  session_rig s;
  s.open_legacy();
  const auto before = s.sent.size();
  for (int i = 0; i < 100'000; ++i) s.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  CHECK(s.sent.size() - before == 64);
  CHECK(s.core.dropped_requests() == 100'000 - 64);
  SUBCASE("and none when the server does not read") {
    s.advance(milliseconds(60'000));
    s.unsent = 1 << 20;
    const auto then = s.sent.size();
    s.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    CHECK(s.sent.size() == then);
  }
}

TEST_CASE("G9: noise is counted and skipped") {
  session_rig s;
  s.open_legacy();
  message_fault noise;
  noise.excerpt = "Server started on port 1";
  s.core.on_fault(noise, s.now);
  s.core.on_fault(noise, s.now);
  CHECK(s.core.noise_lines() == 2);
  session_rig::outcome_box box;
  s.call(box);
  s.answer("tools/call", R"({"content":[]})");
  CHECK(box.times == 1);
}

TEST_CASE("a batch of an old server is read element by element") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box one, two;
  const auto n = s.call(one), m = s.call(two);
  s.say("[{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(n) +
        ",\"result\":{\"content\":[]}}, 7, {\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(m) +
        ",\"result\":{\"content\":[]}}]");
  CHECK(one.times == 1);
  CHECK(two.times == 1);
}

TEST_CASE("each message is sent as what it is: a request and its cancellation with their number") {
  session_rig s;
  s.open_legacy();
  using kind = outgoing::kind;
  const auto method = [&](std::size_t i) { return session_rig::method_of(s.sent[i]); };
  std::size_t requests = 0;
  for (std::size_t i = 0; i < s.sent.size(); ++i) {
    CAPTURE(s.sent[i]);
    CHECK((s.sent_as[i].type == kind::request) == !method(i).starts_with("notifications/"));
    requests += s.sent_as[i].type == kind::request ? 1 : 0;
    if (s.sent_as[i].type == kind::request)
      CHECK(find_member(raw_json::own(s.sent[i]), "id").as_integer() == s.sent_as[i].id);
  }
  CHECK(requests == 3);
  session_rig::outcome_box cancelled, slow;
  const auto one = s.call(cancelled);
  s.core.cancel(one, "why");
  CHECK(s.sent_as.back().type == kind::cancellation);
  CHECK(s.sent_as.back().id == one);
  const auto two = s.call(slow, R"({"name":"echo"})", false, {milliseconds(10), milliseconds(10)});
  s.advance(milliseconds(10));
  CHECK(s.sent_as.back().type == kind::cancellation);
  CHECK(s.sent_as.back().id == two);
  s.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  CHECK(s.sent_as.back().type == kind::response);
}

TEST_CASE("closing ends every call once and silences the rest") {
  session_rig s;
  s.open_legacy();
  session_rig::outcome_box one, two;
  s.call(one);
  s.call(two);
  const auto before = s.sent.size();
  s.core.close(errc::unavailable, "gone");
  s.core.tick(s.now + std::chrono::hours(1));
  CHECK(one.times == 1);
  CHECK(two.times == 1);
  CHECK(one.last.failure.message == "gone");
  CHECK(s.sent.size() == before);
  CHECK(s.core.next_deadline() == never);
}
