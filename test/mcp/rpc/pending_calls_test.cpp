// Our open requests: who gets which answer, and when there will be none.
#include "mcp/rpc/pending_calls.hpp"

#include "mcp/redact/secret.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::redact;
using std::chrono::hours;
using std::chrono::seconds;

message response(std::string_view id, std::string_view body = R"("result":{})") {
  const auto m =
      parse_message(raw_json::own(R"({"jsonrpc":"2.0","id":)" + std::string(id) + "," + std::string(body) + "}"));
  REQUIRE(m);
  return *m;
}

raw_json progress_params(std::string_view token) {
  return raw_json::own(R"({"progress":1,"progressToken":)" + std::string(token) + "}");
}

struct fixture {
  pending_calls calls;
  time_point now{};
  std::vector<std::string> ended;

  call_number open(std::string name, call_limits limits = {}, pending_calls::progress_handler progress = {}) {
    return calls.open(
        limits, now,
        [this, name](const call_outcome& o) {
          ended.push_back(name + ": " +
                          (o.type == call_outcome::kind::failed
                               ? std::string(mcpbx::to_string(o.failure.code)) + " " + o.failure.message
                               : std::string(o.value.text())));
        },
        std::move(progress));
  }
  using list = std::vector<std::string>;
  using numbers = std::vector<call_number>;
};

TEST_CASE_FIXTURE(fixture, "numbers rise from one and each answer reaches its own call") {
  const auto a = open("a"), b = open("b");
  CHECK(a == 1);
  CHECK(b == 2);
  CHECK(calls.answer(response("2", R"("result":{"x":1.0})")));
  CHECK(calls.contains(1));
  CHECK_FALSE(calls.contains(2));
  CHECK(calls.answer(response("1", R"("error":{"code":1,"message":"no"})")));
  CHECK(ended == list{"b: {\"x\":1.0}", "a: {\"code\":1,\"message\":\"no\"}"});
  CHECK(calls.size() == 0);
  CHECK(open("c") == 3);
}

TEST_CASE_FIXTURE(fixture, "G35: known secrets are taken out of an error and a result stays byte for byte") {
  redactor::clear();
  redactor::add(secret("canary-4711"));
  redactor::add(secret("31415926"));
  const auto said = [&](std::string_view body) {
    open("x");
    calls.answer(response(std::to_string(calls.next_number() - 1), body));
    return ended.back();
  };
  CHECK(said(R"("error":{"code":-32000,"message":"canary-4711 is no token","data":{"t":["Bearer canary-4711"]}})") ==
        R"(x: {"code":-32000,"message":"*** is no token","data":{"t":["Bearer ***"]}})");
  redactor::add(secret("at-4711+b=="));
  CHECK(said(R"("error":{"code":7,"message":"at-4711\u002Bb\u003d\u003d","data":{"t":"at-4711\u002bb\u003D="}})") ==
        R"(x: {"code":7,"message":"***","data":{"t":"***"}})");
  CHECK(said(R"("error":{"code": 7, "message":"no"})") == R"(x: {"code": 7, "message":"no"})");
  CHECK(said(R"("error":{"code":7,"message":"no","data":31415926})") ==
        R"(x: {"code":7,"message":"the words of this error have a secret in them"})");
  CHECK(said(R"("result":{"t":"canary-4711"})") == R"(x: {"t":"canary-4711"})");
  redactor::clear();
}

TEST_CASE_FIXTURE(fixture, "G13: a string id does not match a number") {
  open("a");
  for (const std::string_view id : {"\"1\"", "99", "-1", "\"\"", "18446744073709551617", "0"}) {
    CAPTURE(id);
    CHECK_FALSE(calls.answer(response(id)));
  }
  CHECK(calls.counts().unknown == 6);
  CHECK(calls.counts().late == 0);
  CHECK(ended.empty());
  CHECK(calls.answer(response("1")));
}

TEST_CASE_FIXTURE(fixture, "G13: a second answer is counted and dropped") {
  open("a");
  CHECK(calls.answer(response("1")));
  CHECK_FALSE(calls.answer(response("1", R"("result":{"SECRET":1})")));
  CHECK(calls.counts().duplicate == 1);
  CHECK(ended == list{"a: {}"});
}

TEST_CASE_FIXTURE(fixture, "G13: a late answer is counted once as late and then as a duplicate") {
  const auto n = open("a");
  CHECK(calls.close(n, call_outcome::failed(errc::cancelled, "cancelled")));
  CHECK_FALSE(calls.close(n, call_outcome::failed(errc::cancelled, "cancelled")));
  CHECK_FALSE(calls.answer(response("1")));
  CHECK(calls.counts().late == 1);
  CHECK_FALSE(calls.answer(response("1")));
  CHECK(calls.counts().late == 1);
  CHECK(calls.counts().duplicate == 1);
  CHECK(ended == list{"a: cancelled cancelled"});
}

TEST_CASE_FIXTURE(fixture, "an answer to a call that ended long ago is late") {
  open("old");
  calls.close(1, call_outcome::failed(errc::cancelled, ""));
  for (int i = 0; i < 3000; ++i) calls.answer(response(std::to_string(open("x"))));
  CHECK_FALSE(calls.answer(response("1")));
  CHECK(calls.counts().late == 1);
}

TEST_CASE_FIXTURE(fixture, "G14: a malformed answer with a readable id ends its call at once") {
  open("a");
  CHECK(calls.answer_malformed(rpc_id::number(1), "member \"result\" must be an object"));
  CHECK(ended == list{"a: protocol was answered against the protocol: member \"result\" must be an object"});
  CHECK_FALSE(calls.answer_malformed(rpc_id::number(1), "again"));
  CHECK_FALSE(calls.answer_malformed({}, "no id"));
  CHECK(calls.counts().duplicate == 1);
  CHECK(calls.counts().unknown == 1);
}

TEST_CASE_FIXTURE(fixture, "G14: a result that is no object ends its call as a breach of the protocol") {
  for (const std::string_view result : {"[]", "null", "7"}) {
    CAPTURE(result);
    ended.clear();
    const auto n = open("a");
    CHECK(calls.answer(response(std::to_string(n), "\"result\":" + std::string(result))));
    CHECK(ended == list{"a: protocol was answered against the protocol: member \"result\" must be an object"});
  }
}

TEST_CASE_FIXTURE(fixture, "G5: a call without a sign of life ends at its idle limit") {
  open("a", {.idle = seconds(60), .hard = seconds(600)});
  CHECK(calls.next_deadline() == now + seconds(60));
  CHECK(calls.expire(now + seconds(60) - milliseconds(1)).empty());
  CHECK(ended.empty());
  CHECK(calls.expire(now + seconds(60)) == numbers{1});
  CHECK(ended == list{"a: timed_out gave no sign of life for 60 s"});
  CHECK(calls.counts().timed_out == 1);
  CHECK(calls.next_deadline() == never);
  CHECK(calls.expire(now + hours(1)).empty());
}

TEST_CASE_FIXTURE(fixture, "G6: progress cannot move the hard limit") {
  int heard = 0;
  open("a", {.idle = seconds(10), .hard = seconds(60)}, [&](const raw_json&) { ++heard; });
  numbers gone;
  for (int s = 5; s <= 100 && gone.empty(); s += 5) {
    now = time_point{} + seconds(s);
    gone = calls.expire(now);
    if (gone.empty()) CHECK(calls.progress(progress_params("1"), now));
  }
  CHECK(gone == numbers{1});
  CHECK(now == time_point{} + seconds(60));
  CHECK(heard == 11);
  CHECK(ended == list{"a: timed_out has not ended within its limit of 60 s"});
}

TEST_CASE_FIXTURE(fixture, "G5: deadlines that moved or went are not missed") {
  open("a", {.idle = seconds(10), .hard = seconds(100)});
  open("b", {.idle = milliseconds(20'500), .hard = seconds(100)});
  calls.progress(progress_params("1"), now + seconds(9));
  CHECK(calls.expire(now + seconds(10)).empty());
  CHECK(calls.next_deadline() == now + seconds(19));
  calls.answer(response("1"));
  CHECK(calls.next_deadline() <= now + milliseconds(20'500));
  CHECK(calls.expire(now + seconds(19)).empty());
  CHECK(calls.next_deadline() == now + milliseconds(20'500));
  CHECK(calls.expire(now + seconds(21)) == numbers{2});
  CHECK(ended.back() == "b: timed_out gave no sign of life for 20500 ms");
}

TEST_CASE_FIXTURE(fixture, "limits beyond the end of time are no limits") {
  now = time_point{} + hours(1);
  open("a", {.idle = milliseconds::max(), .hard = milliseconds::max()});
  CHECK(calls.next_deadline() == never);
  CHECK(calls.expire(now + hours(100'000)).empty());
}

TEST_CASE_FIXTURE(fixture, "G13: progress with a foreign token moves nothing") {
  int heard = 0;
  open("a", {.idle = seconds(10), .hard = seconds(60)}, [&](const raw_json&) { ++heard; });
  for (const std::string_view token : {"\"1\"", "2", "1.0", "null", "{}"})
    CHECK_FALSE(calls.progress(progress_params(token), now + seconds(5)));
  CHECK_FALSE(calls.progress(raw_json(), now));
  CHECK_FALSE(calls.progress(raw_json::literal("{}"), now));
  CHECK(heard == 0);
  CHECK(calls.expire(now + seconds(10)) == numbers{1});
}

TEST_CASE_FIXTURE(fixture, "handlers may open and close calls while they run") {
  std::vector<std::string> log;
  call_number second = 0;
  calls.open({}, now, [&](const call_outcome&) {
    log.emplace_back("a");
    for (int i = 0; i < 1000; ++i) second = open("many");
    CHECK(calls.close(2, call_outcome::failed(errc::cancelled, "")));
  });
  calls.open({}, now, [&](const call_outcome&) { log.emplace_back("b"); });
  CHECK(calls.answer(response("1")));
  CHECK(log == list{"a", "b"});
  CHECK(calls.contains(second));
  CHECK(calls.size() == 1000);
}

TEST_CASE_FIXTURE(fixture, "a progress handler may end its own call") {
  int heard = 0;
  call_number n = 0;
  n = open("a", {}, [&](const raw_json&) {
    ++heard;
    if (heard == 2) calls.close(n, call_outcome::failed(errc::cancelled, "enough"));
  });
  CHECK(calls.progress(progress_params("1"), now));
  CHECK(calls.progress(progress_params("1"), now));
  CHECK_FALSE(calls.progress(progress_params("1"), now));
  CHECK(heard == 2);
  CHECK(ended == list{"a: cancelled enough"});
}

TEST_CASE_FIXTURE(fixture, "a call that ends while others expire is ended once") {
  calls.open({.idle = seconds(1)}, now,
             [&](const call_outcome&) { calls.close(2, call_outcome::failed(errc::cancelled, "by a")); });
  open("b", {.idle = seconds(1)});
  CHECK(calls.expire(now + seconds(1)) == numbers{1});
  CHECK(ended == list{"b: cancelled by a"});
  CHECK(calls.counts().timed_out == 1);
}

TEST_CASE_FIXTURE(fixture, "closing all ends every open call in order and none opened meanwhile") {
  open("a");
  calls.open({}, now, [&](const call_outcome&) {
    ended.emplace_back("b");
    open("d");
  });
  open("c");
  calls.close_all(errc::unavailable, "the tool server has died");
  CHECK(ended == list{"a: unavailable the tool server has died", "b", "c: unavailable the tool server has died"});
  CHECK(calls.size() == 1);
}

}  // namespace
