// Sessions at /mcp (Streamable HTTP of 2025-03-26 … 2025-11-25): answers as JSON or streams, resumption, limits.
#include "test/daemon/front/chat_sources.hpp"
#include "test/daemon/front/mcp/mcp_door.hpp"

#include <chrono>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::door;
using namespace mcpbx::json;
using namespace mcpbx::test;
using namespace std::chrono_literals;

namespace {

std::string listening(const std::string& session, const std::string& more = "") {
  return mcp_door::head("GET", "Accept: text/event-stream\r\n" + session + more + "\r\n");
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("/mcp: a quick answer is JSON, and notifications and responses get 202") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  const auto pong = d.post(fd, R"({"jsonrpc":"2.0","id":"a","method":"ping"})", session);
  CHECK(pong.status == 200);
  CHECK(pong.header("Content-Type") == "application/json");
  CHECK(pong.body == R"({"jsonrpc":"2.0","id":"a","result":{}})");
  CHECK(d.post(fd, R"({"jsonrpc":"2.0","id":99,"result":{}})", session).status == 202);

  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  CHECK(d.raw(fd).empty());
  d.answer(0);
  const auto called = d.got(fd);
  CHECK(called.header("Content-Type") == "application/json");
  CHECK(called.body == R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
  // Errors of the method itself are answers.
  const auto unknown = d.post(fd, R"({"jsonrpc":"2.0","id":5,"method":"no/such"})", session);
  CHECK(unknown.status == 200);
  CHECK(unknown.code() == -32601);
}

TEST_CASE("/mcp: an answer becomes a stream with its first notification, or when it takes 100 ms") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter(), slow = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(1), session));
  d.write(slow, mcp_door::posting(mcp_door::call(2), session));
  d.progress(0, 1);
  auto begun = d.got(fd);
  CHECK(begun.status == 200);
  CHECK(begun.header("Content-Type") == "text/event-stream");
  CHECK(begun.header("X-Accel-Buffering") == "no");
  // The first event is empty and has an id, so that the caller can come again (2025-11-25).
  CHECK(contains(begun.body, "-0\nretry: 1000\ndata: \n\nid: "));
  CHECK(contains(
      begun.body,
      R"(data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}})"));
  CHECK_FALSE(begun.ended);
  d.answer(0);
  CHECK(contains(mcp_door::events(d.raw(fd)), R"(data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}})"));
  // The connection goes on.
  CHECK(d.post(fd, R"({"jsonrpc":"2.0","id":3,"method":"ping"})", session).status == 200);

  d.time.advance(99ms);
  CHECK(d.raw(slow).empty());
  d.time.advance(1ms);
  CHECK(contains(d.got(slow).body, "-0\nretry: "));
  d.answer(1);
  bool ended = false;
  CHECK(contains(mcp_door::events(d.raw(slow), &ended), R"("id":2,"result")"));
  CHECK(ended);
}

TEST_CASE("/mcp: a caller that names streams first gets one, and older revisions get no empty event") {
  mcp_door d;
  const auto session = d.begin("2025-06-18");
  const int fd = d.enter();
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  d.write(fd,
          mcp_door::head("POST", "Content-Type: application/json\r\nAccept: text/event-stream, application/json\r\n" +
                                     session + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
  const auto answer = d.got(fd);
  CHECK(answer.header("Content-Type") == "text/event-stream");
  CHECK(answer.body.starts_with("id: "));
  CHECK(count(answer.body, "data: ") == 1);
  CHECK(answer.ended);
}

TEST_CASE("/mcp: a broken stream goes on by GET with Last-Event-ID, from that event on, and cancels nothing") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.progress(0, 1);
  d.progress(0, 2);
  const auto begun = d.got(fd);
  const auto id = begun.body.substr(4, begun.body.find("-0\n") - 4);
  d.leave(fd);
  CHECK(d.tools->cancelled.empty());
  d.progress(0, 3);
  d.progress(0, 4);  // one that waits stands for the earlier one
  const auto resume = [&](const std::string& after) {
    const int again = d.enter();
    d.write(again, listening(session, "Last-Event-ID: " + id + "-" + after + "\r\n"));
    return std::pair(again, d.got(again));
  };
  auto [second, got] = resume("1");
  CHECK(got.header("Content-Type") == "text/event-stream");
  CHECK_FALSE(contains(got.body, "\"progress\":1}"));
  CHECK(contains(got.body, "id: " + id + "-2\ndata: "));
  CHECK(contains(got.body, "\"progress\":2}"));
  CHECK_FALSE(contains(got.body, "\"progress\":3}"));
  CHECK(contains(got.body, "\"progress\":4}"));
  CHECK_FALSE(got.ended);
  // A further connection takes over.
  auto [third, more] = resume("3");
  CHECK(more.body.empty());
  bool ended = false;
  mcp_door::events(d.raw(second), &ended);
  CHECK(ended);
  d.leave(third);
  d.answer(0);
  auto [fourth, last] = resume("3");
  CHECK(contains(last.body, "id: " + id + "-4\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\""));
  CHECK(last.ended);
  // It can be had again for a while, and is forgotten then.
  CHECK(resume("3").second.ended);
  CHECK(resume("4").second.body.empty());
  d.time.advance(6min);
  d.turn();
  CHECK(resume("3").second.status == 400);
}

TEST_CASE("/mcp: an answer whose connection left before a stream began is dropped, and its call goes on") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.leave(fd);
  CHECK(d.tools->cancelled.empty());
  d.answer(0);
  const int other = d.enter();
  CHECK(d.post(other, R"({"jsonrpc":"2.0","id":1,"method":"ping"})", session).status == 200);
}

TEST_CASE("/mcp: a cancelled request ends its stream without a response") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter(), other = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  CHECK(d.post(other, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})", session)
            .status == 202);
  const auto answer = d.got(fd);
  CHECK(answer.status == 200);
  CHECK(answer.ended);
  CHECK_FALSE(contains(answer.body, "\"id\":1"));
  CHECK(d.tools->cancelled.size() == 1);
}

TEST_CASE("/mcp: what belongs to no request goes to the stream of GET, one at a time, and waits for it") {
  mcp_door d;
  const auto session = d.begin();
  d.backend.list_changed(mcp::protocol::tool_kind());
  d.backend.list_changed(mcp::protocol::tool_kind());
  const int first = d.enter();
  d.write(first, listening(session));
  auto got = d.got(first);
  CHECK(got.body.starts_with("id: 0-0\nretry: 1000\ndata: \n\nid: 0-1\ndata: "));
  CHECK(count(got.body, "tools/list_changed") == 1);
  const int second = d.enter();
  d.write(second, listening(session, "Last-Event-ID: 0-0\r\n"));
  CHECK(count(d.got(second).body, "tools/list_changed") == 1);
  bool ended = false;
  mcp_door::events(d.raw(first), &ended);
  CHECK(ended);
  d.backend.list_changed(mcp::protocol::tool_kind());
  CHECK(contains(mcp_door::events(d.raw(second)), "id: 0-2\ndata: "));
  // A comment keeps a silent stream alive.
  d.time.advance(14s);
  CHECK(d.raw(second).empty());
  d.time.advance(6s);
  CHECK(mcp_door::events(d.raw(second)) == ":\n\n");
}

TEST_CASE("/mcp: DELETE ends a session with its calls and streams, and it is unknown then") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter(), stream = d.enter(), end = d.enter();
  d.write(stream, listening(session));
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.progress(0, 1);
  d.raw(fd);
  d.raw(stream);
  d.write(end, mcp_door::head("DELETE", session + "\r\n"));
  CHECK(d.got(end).status == 200);
  CHECK(d.tools->cancelled.size() == 1);
  for (const int one : {fd, stream}) {
    bool ended = false;
    mcp_door::events(d.raw(one), &ended);
    CHECK(ended);
  }
  d.tools->answer(0, "{}");
  CHECK(d.post(end, R"({"jsonrpc":"2.0","id":1,"method":"ping"})", session).status == 404);
}

TEST_CASE("/mcp: a question of a tool server goes out on the stream of its call, and its answer comes by POST") {
  mcp_door d;
  const auto session = d.begin("2025-11-25", R"({"elicitation":{}})");
  const int fd = d.enter(), other = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  REQUIRE(d.tools->calls.size() == 1);
  std::string answered;
  REQUIRE(d.tools->calls[0].questions);
  d.tools->calls[0].questions->ask(
      {"files", "elicitation/create", raw_json::own(R"({"message":"Really?","requestedSchema":{"type":"object"}})")},
      [&](mcp::rpc::call_outcome&& o) { answered = std::string(o.value.text()); });
  const auto asked = d.got(fd);
  CHECK(asked.header("Content-Type") == "text/event-stream");
  CHECK(contains(asked.body, R"("method":"elicitation/create")"));
  CHECK(contains(asked.body, R"("mcpbx/server":"files")"));
  const auto at = asked.body.find(R"({"jsonrpc":"2.0","id":)") + 22;
  const auto id = asked.body.substr(at, asked.body.find(',', at) - at);
  CHECK(d.post(other, R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"action":"accept","content":{}}})", session)
            .status == 202);
  d.time.advance(0ms);
  d.turn();

  CHECK(answered == R"({"action":"accept","content":{}})");
  d.answer(0);
  CHECK(contains(mcp_door::events(d.raw(fd)), R"("id":1,"result")"));
}

TEST_CASE("/mcp: a batch of 2025-03-26 is answered as one, and 202 if nothing in it asks") {
  mcp_door d;
  const auto session = d.begin("2025-03-26");
  const int fd = d.enter();
  const auto answer = d.post(fd,
                             R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},)"
                             R"({"jsonrpc":"2.0","id":2,"method":"ping"}])",
                             session);
  CHECK(answer.status == 200);
  CHECK(answer.body == R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}])");
  CHECK(d.post(fd, R"([{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":9,"result":{}}])", session).status == 202);
  CHECK(d.post(fd, "[]", session).status == 400);
  d.write(fd, mcp_door::posting("[" + mcp_door::call(3) + "," + mcp_door::call(4) + "]", session));
  d.progress(1, 5);
  CHECK(contains(d.got(fd).body, "\"progressToken\":4"));
  d.answer(1);
  d.answer(0);
  bool ended = false;
  const auto both = mcp_door::events(d.raw(fd), &ended);
  CHECK(contains(both, R"(data: [{"jsonrpc":"2.0","id":4,"result":{"content":[]}},{"jsonrpc":"2.0","id":3,)"));
  CHECK(ended);
}

TEST_CASE("/mcp: a request of 2026-07-28 in a batch of a session is refused, since nobody has checked its headers") {
  mcp_door d;
  const auto session = d.begin("2025-03-26");
  const int fd = d.enter();
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  const auto answer =
      d.post(fd,
             R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{},)" + meta +
                 "}}," + R"({"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{},)" +
                 meta + R"(}},{"jsonrpc":"2.0","id":3,"method":"ping"}])",
             session);
  CHECK(answer.status == 200);
  CHECK(contains(answer.body, R"("id":1,"error":{"code":-32600)"));
  CHECK(contains(answer.body, R"("id":2,"error":{"code":-32600)"));
  CHECK(contains(answer.body, R"({"jsonrpc":"2.0","id":3,"result":{}})"));
  CHECK(d.tools->calls.empty());
}

TEST_CASE("/mcp: a session belongs to who began it, and to its profile") {
  front_door::options o;
  o.chat = always(defaults_by([](std::string_view, std::string_view) -> result<chat_base> { return chat_base{}; }));
  mcp_door d(std::move(o));
  const auto session = d.begin();
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const int fd = d.enter(), local = d.enter(false);
  CHECK(d.post(local, ping, session).status == 404);
  d.write(fd, mcp_door::posting(ping, session, "/mcp?profile=careful"));
  CHECK(d.got(fd).status == 404);
  CHECK(d.post(fd, ping, session).status == 200);
}

TEST_CASE("/mcp: sessions are bounded and the one that nobody uses for longest gives way, and idle ones end") {
  front_door::options o;
  o.max_callers = 6;  // three sessions
  mcp_door d(std::move(o));
  const auto first = d.begin();
  d.time.advance(1s);
  const auto second = d.begin();
  d.time.advance(1s);
  const auto third = d.begin();
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const int fd = d.enter();
  CHECK(d.post(fd, ping, first).status == 200);
  const auto fourth = d.begin();
  CHECK(d.post(fd, ping, second).status == 404);
  CHECK(d.post(fd, ping, first).status == 200);
  // Sessions with an open request stay.
  for (const auto& s : {first, third, fourth}) {
    const int one = d.enter();
    d.write(one, mcp_door::posting(mcp_door::call(), s));
    d.leave(one);
  }
  const auto full = d.post(fd, mcp_door::initialize());
  CHECK(full.status == 503);
  CHECK(full.code() == -32001);
  CHECK(full.header("Retry-After") == "1");
  for (std::size_t i = 0; i < 3; ++i) d.answer(i);
  d.time.advance(31min);
  for (const auto& s : {first, third, fourth}) {
    const int one = d.enter();
    CHECK(d.post(one, ping, s).status == 404);
    d.leave(one);
  }
}

TEST_CASE("G18: open streams take a quarter of the places of limits.callers, and leave the others to requests") {
  front_door::options o;
  o.max_callers = 16;
  mcp_door d(std::move(o));
  std::vector<std::string> sessions;
  std::vector<int> streams;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(d.begin());
    streams.push_back(d.enter());
    d.write(streams.back(), listening(sessions.back()));
    CHECK(d.got(streams.back()).status == 200);
  }
  const auto fifth = d.begin();
  const int fd = d.enter();
  d.write(fd, listening(fifth));
  const auto full = d.got(fd);
  CHECK(full.status == 503);
  CHECK(full.code() == -32001);
  CHECK(d.post(fd, R"({"jsonrpc":"2.0","id":1,"method":"ping"})", fifth).status == 200);
  d.leave(streams.front());
  d.write(fd, listening(fifth));
  CHECK(d.got(fd).status == 200);
}

TEST_CASE("G18: one caller leaves sessions and streams to others, and what it begins pushes out its own") {
  front_door::options o;
  o.max_callers = 64;  // 32 sessions, 30 of one caller
  mcp_door d(std::move(o));
  const auto local = d.begin("2025-11-25", "{}", false);
  d.time.advance(1s);
  const auto first = d.begin();
  d.time.advance(1s);
  for (int i = 0; i < 40; ++i) d.begin();
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const int fd = d.enter(), near = d.enter(false);
  CHECK(d.post(fd, ping, first).status == 404);
  CHECK(d.post(near, ping, local).status == 200);
}

TEST_CASE("G18: one caller may have all streams but a 64th part") {
  front_door::options o;
  o.max_callers = 256;  // 64 streams, 63 of one caller
  mcp_door d(std::move(o));
  const auto stream = [&] {
    const auto session = d.begin();
    const int fd = d.enter();
    d.write(fd, listening(session));
    return d.got(fd).status;
  };
  for (int i = 0; i < 63; ++i) REQUIRE(stream() == 200);
  CHECK(stream() == 503);
}

TEST_CASE("G18: a stream that is resumed has the place of a stream until its connection is over") {
  front_door::options o;
  o.max_callers = 8;  // two streams
  mcp_door d(std::move(o));
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.progress(0, 1);
  const auto begun = d.got(fd);
  const auto id = begun.body.substr(4, begun.body.find("-0\n") - 4);
  d.leave(fd);
  const auto listen = [&](const std::string& more) {
    const int one = d.enter();
    d.write(one, listening(session, more));
    return std::pair(one, d.got(one).status);
  };
  const auto [resumed, ok] = listen("Last-Event-ID: " + id + "-1\r\n");
  CHECK(ok == 200);
  CHECK(listen("").second == 200);
  CHECK(listen("").second == 503);
  SUBCASE("it leaves") {
    d.leave(resumed);
    CHECK(listen("").second == 200);
  }
  SUBCASE("it is answered") {
    d.answer(0);
    CHECK(listen("").second == 200);
    // The answer that is over needs no connection that stays.
    CHECK(listen("").second == 200);
  }
}

TEST_CASE("/mcp: a connection that takes a stream over and is taken over at once leaves none hanging") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.progress(0, 1);
  const auto begun = d.got(fd);
  const auto resume =
      listening(session, "Last-Event-ID: " + begun.body.substr(4, begun.body.find("-0\n") - 4) + "-1\r\n");
  // The first connection has its next request ready, which wants the same stream.
  d.write(fd, resume);
  const int second = d.enter();
  d.write(second, resume);
  d.turn();
  d.answer(0);
  int answers = 0, ends = 0;
  for (const int one : {fd, second}) {
    const auto text = d.raw(one);
    answers += contains(text, "\"result\"") ? 1 : 0;
    ends += contains(text, "0\r\n\r\n") ? 1 : 0;
  }
  CHECK(answers == 1);
  CHECK(ends == 2);
}

TEST_CASE("/mcp: a request behind a batch of nothing but faults gets its own answer") {
  mcp_door d;
  const auto session = d.begin("2025-03-26");
  const int fd = d.enter();
  d.write(fd, mcp_door::posting("[7]", session) + mcp_door::posting(mcp_door::call(), session));
  d.progress(0, 1);
  d.answer(0);
  const auto text = d.raw(fd);
  CHECK(contains(text, "invalid request"));
  CHECK(contains(text, "\"progress\":1"));
  CHECK(contains(text, "\"id\":1,\"result\""));
}

TEST_CASE("G17: progress for a caller that does not read its stream is merged, so that it costs bounded memory") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  const auto before = byte_account::total();
  const std::string filler(10'000, 'x');
  for (int i = 1; i <= 3000; ++i)
    d.tools->calls.at(0).progress(
        raw_json::own(R"({"progress":)" + std::to_string(i) + R"(,"message":")" + filler + "\"}"));
  CHECK(byte_account::total() - before < (4u << 20));
  d.answer(0);
  const auto answer = d.got(fd);
  CHECK(count(answer.body, "\"message\"") < 200);
  CHECK(contains(answer.body, "\"progress\":3000"));
  CHECK(answer.ended);
}

TEST_CASE("G17: a caller that takes nothing for 30 s loses its connection, and can have the answer on another one") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.progress(0, 1);
  const auto begun = d.got(fd);
  const auto id = begun.body.substr(4, begun.body.find("-0\n") - 4);
  const std::string large(3u << 20, 'x');
  d.answer(0, R"({"content":[],"large":")" + large + "\"}");
  d.time.advance(31s);
  d.turn();
  const int again = d.enter();
  d.write(again, listening(session, "Last-Event-ID: " + id + "-1\r\n"));
  const auto answer = d.got(again);
  CHECK(answer.body.size() > large.size());
  CHECK(answer.ended);
}

TEST_CASE("G17: a tool server that floods a caller without a connection loses that stream, and the session goes on") {
  front_door::options o;
  o.outbox.bound = 1 << 10;
  o.outbox.ceiling = 4 << 10;
  o.outbox.feed_below = 256;
  mcp_door d(std::move(o));
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","task":{}}})",
                                session));
  REQUIRE(d.tools->calls.size() == 1);
  REQUIRE(d.tools->calls[0].notified);
  // Nobody has opened the stream of notifications, so that they wait until they are too many.
  const auto status = raw_json::own(R"({"taskId":"t","text":")" + std::string(1000, 'x') + "\"}");
  for (int i = 0; i < 32; ++i) d.tools->calls[0].notified("notifications/tasks/status", status);
  d.turn();
  d.answer(0);
  CHECK(contains(d.got(fd).body, R"("id":1,"result":{"content":[]})"));
  const int other = d.enter();
  d.write(other, listening(session));
  const auto late = d.got(other);
  CHECK(late.status == 200);
  CHECK(count(late.body, "notifications/tasks/status") < 8);
  d.tools->calls[0].notified("notifications/tasks/status", raw_json::literal(R"({"taskId":"last"})"));
  CHECK(contains(mcp_door::events(d.raw(other)), R"("taskId":"last")"));
}

TEST_CASE("G20: a door that closes ends all sessions and their calls") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.door->close();
  d.turn();
  CHECK(d.tools->cancelled.size() == 1);
  d.tools->answer(0, "{}");
}

TEST_CASE("/mcp: while the daemon stops no session begins, and calls that go on are answered") {
  mcp_door d;
  const auto session = d.begin();
  const int fd = d.enter(), other = d.enter();
  d.write(fd, mcp_door::posting(mcp_door::call(), session));
  d.door->refuse_calls();
  CHECK(d.post(other, mcp_door::initialize()).status == 503);
  const auto refused = d.post(other, mcp_door::call(2), session);
  CHECK(contains(refused.body, "stopping"));
  d.answer(0);
  CHECK(contains(d.got(fd).body, R"("id":1,"result")"));
}
