// Servers at an address that misbehave: each fault ends in one sentence that says what happened, and nothing hangs.
#include "mcp/redact/secret.hpp"
#include "test/mcp/client/question_recorder.hpp"
#include "test/mcp/client/remote/remote_rig.hpp"
#include "test/mcp/http/client/tls_peer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::redact;
using namespace mcpbx::test;

// Answers calls with `act` and everything else as it should be.
remote_server::handler at_calls(std::function<void(http_peer&, const http_peer::request&)> act) {
  return [act](http_peer& peer, const http_peer::request& q, const std::string& method) {
    if (method != "tools/call") return false;
    act(peer, q);
    return true;
  };
}

// Answers every request with these bytes.
remote_server::handler always(std::string bytes) {
  return [bytes](http_peer& peer, const http_peer::request&, const std::string&) { return peer.send(bytes); };
}

std::string plain(int status, std::string_view more = "", std::string_view body = "") {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more) + "\r\n" + std::string(body);
}

// The failure of a server that answers everything so, and the kind of trouble.
std::pair<std::string, std::string> opening(remote_server::handler act,
                                            std::function<void(mcp::remote::remote_spec&)> change = {}) {
  const remote_server server(remote_server::era::modern, std::move(act));
  remote_rig rig(server.url(), std::move(change));
  rig.start();
  const std::string text = rig.failure();
  CHECK(text.starts_with("tool server \"far\" "));
  CHECK(rig.status().start_failed);
  return {text, rig.status().remote->problem};
}

// The outcome of a call at a server that acts so.
remote_rig::outcome_box calling(remote_server::handler act, remote_server::era e = remote_server::era::modern) {
  const remote_server server(e, std::move(act));
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  return rig.called();
}

}  // namespace

TEST_CASE("G8: remote: a server that cannot be used is failed with the reason and the kind of trouble") {
  const auto [login, unauthorized] = opening(always(plain(401)));
  CHECK(login.contains("asks for a login (HTTP status 401)"));
  CHECK(login.contains("\"Authorization\": \"Bearer ${env:TOKEN}\""));
  CHECK(unauthorized == "unauthorized");
  const auto with_token = [](mcp::remote::remote_spec& spec) {
    spec.headers = {{"Authorization", "Bearer some-token"}};
  };
  CHECK(opening(always(plain(401)), with_token).first.contains("refuses the Authorization header of its entry"));

  const auto [forbidden, refused] = opening(always(plain(403, "", "not from here")));
  CHECK(forbidden.contains("refuses requests (HTTP status 403: \"not from here\")"));
  CHECK(refused == "refused");

  const auto [page, protocol] =
      opening(always("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"));
  CHECK(page.contains("does not speak MCP"));
  CHECK(protocol == "protocol");
  CHECK(opening(always(plain(404))).first.contains("does not speak MCP over HTTP"));
  CHECK(opening(always(plain(500))).first.contains("fails to answer (HTTP status 500)"));
  CHECK(opening(always("this is no HTTP\r\n\r\n")).first.contains("not HTTP"));
  CHECK(opening([](http_peer& peer, const auto&, const auto&) {
          peer.close();
          return true;
        }).first.contains("closed the connection without an answer"));
  const auto packed = opening(always(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"));
  CHECK(packed.first.contains("in a compression that was not asked for (\"gzip\")"));

  std::uint16_t free = 0;
  {
    const remote_server gone(remote_server::era::modern);
    free = gone.port();
  }
  remote_rig nobody("http://127.0.0.1:" + std::to_string(free) + "/mcp");
  nobody.start();
  CHECK(nobody.failure().contains("cannot be reached: 127.0.0.1:"));
  CHECK(nobody.status().remote->problem == "unreachable");

  remote_rig silent("http://127.0.0.1:" + std::to_string(remote_server(remote_server::era::modern).port()) + "/mcp",
                    [](auto& spec) { spec.headers = {{"X", "a\r\nForged: 1"}}; });
  silent.start();
  CHECK(silent.failure().contains("cannot be asked: The header \"X\""));
  CHECK(silent.status().remote->problem == "refused");

  // Redirects that lead a POST nowhere go in no circle and to no other address.
  for (const auto* redirect : {"HTTP/1.1 303 X\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
                               "HTTP/1.1 307 X\r\nContent-Length: 0\r\n\r\n"}) {
    const auto [nowhere, kind] = opening(always(redirect));
    CHECK(nowhere.contains("answers with a redirect that leads no request anywhere (HTTP status 30"));
    CHECK(kind == "refused");
  }
}

TEST_CASE("G7: remote: a server that accepts and never answers is not ready in time and counts as slow") {
  const remote_server server(remote_server::era::modern, [](http_peer& peer, const auto&, const auto&) {
    peer.wait_closed();
    return true;
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.until([&] { return server.requests().size() == 1; }));
  rig.advance(31'000, 500);
  CHECK(rig.failure().contains("was not ready within 30 s"));
  CHECK(rig.status().remote->problem == "slow");
}

TEST_CASE("remote: 401 for ever and a dead network are met with the back-off of processes and no storm") {
  const remote_server server(remote_server::era::modern, always(plain(401)));
  remote_rig rig(server.url());
  rig.start();
  rig.failure();
  rig.advance(60'000, 500);
  CHECK(server.requests().size() >= 5);
  CHECK(server.requests().size() <= 20);

  // Fifty servers at a port where nobody listens.
  std::uint16_t free = 0;
  {
    const remote_server gone(remote_server::era::modern);
    free = gone.port();
  }
  remote_rig dead("http://127.0.0.1:" + std::to_string(free) + "/mcp");
  std::vector<mcp::supervise::server_options> many;
  for (int i = 0; i < 50; ++i) {
    many.push_back(dead.server());
    many.back().name = "far" + std::to_string(i);
  }
  dead.supervisor->apply(std::move(many));
  dead.advance(60'000, 500);
  std::uint64_t restarts = 0;
  for (const auto& s : dead.supervisor->status()) restarts += s.restarts;
  CHECK(restarts >= 50 * 4);
  CHECK(restarts <= 50 * 20);
}

TEST_CASE("remote: a wish for a wait is kept when the server is opened") {
  std::atomic<int> asked = 0;
  const remote_server server(remote_server::era::modern, [&](http_peer& peer, const auto&, const auto&) {
    if (asked++ != 0) return false;
    return peer.send(plain(503, "Retry-After: 30\r\n"));
  });
  remote_rig rig(server.url());
  rig.start();
  CHECK(rig.failure().contains("takes no requests now (HTTP status 503)"));
  CHECK(rig.status().next_try_ms == 30'000);
  rig.advance(29'000, 500);
  CHECK(asked == 1);
  rig.advance(1'500, 500);
  CHECK(rig.ready());
}

TEST_CASE("remote: a server cannot have itself left alone for more than five minutes by a wish for a wait") {
  const remote_server server(remote_server::era::modern, [&](http_peer& peer, const auto&, const auto&) {
    return peer.send(plain(503, "Retry-After: 999999999999\r\n"));
  });
  remote_rig rig(server.url());
  rig.start();
  CHECK(rig.failure().contains("takes no requests now (HTTP status 503)"));
  CHECK(rig.status().next_try_ms == 300'000);
}

TEST_CASE("remote: nothing is asked of a lazy server before its first use") {
  const remote_server server(remote_server::era::modern);
  remote_rig rig(server.url());
  auto o = rig.server();
  o.lazy = true;
  rig.start(std::move(o));
  rig.advance(2'000, 100);
  CHECK(server.connections() == 0);
  CHECK(rig.status().state == mcp::clients::server_state::lazy);
  rig.supervisor->when_settled(milliseconds(1'000), [] {});
  CHECK(rig.ready());
}

TEST_CASE("G3: a call is sent once whatever becomes of its pooled connection and the error says what is not known") {
  for (const auto e : {remote_server::era::modern, remote_server::era::legacy}) {
    const remote_server server(e, at_calls([](http_peer& peer, const auto&) { peer.close(); }));
    remote_rig rig(server.url());
    rig.start();
    REQUIRE(rig.ready());
    const auto box = rig.called();
    REQUIRE(box.failed());
    CHECK(
        box.text().starts_with("tool server \"far\": tools/call far__echo got no answer, and it is not known whether "
                               "it did what was asked: 127.0.0.1:"));
    CHECK(box.last.sent);
    rig.advance(5'000, 100);
    CHECK(server.count("tools/call") == 1);
    CHECK(rig.status().state == mcp::clients::server_state::ready);
  }
}

TEST_CASE("G14: remote: answers that are none fail their own call at once with a sentence") {
  const auto json = [](std::string_view text) {
    return at_calls(
        [text = std::string(text)](http_peer& peer, const auto&) { remote_server::send_json(peer, 200, text); });
  };
  const std::vector<std::pair<remote_server::handler, std::string>> faults{
      {json("<html>"), "something that is no message"},
      {json("{\"a\":"), "something that is no message"},
      {json("{}"), "something that is no message"},
      {json(R"({"jsonrpc":"2.0","id":999999,"result":{}})"), "a text that is no answer to it"},
      {json(""), "a text that is no answer to it"},
      {at_calls([](http_peer& peer, const auto&) { peer.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"); }),
       "was accepted (HTTP status 202) and not answered"},
      {at_calls([](http_peer& peer, const auto&) { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"); }),
       "was answered without a content type"},
      {at_calls([](http_peer& peer, const auto&) { peer.send(plain(500, "", "broken")); }),
       "was answered with HTTP status 500: \"broken\""},
      {at_calls([](http_peer& peer, const auto&) { peer.send(plain(404)); }), "was answered with HTTP status 404"},
      {at_calls([](http_peer& peer, const auto&) { peer.send(plain(307, "Location: http://other.example/\r\n")); }),
       "redirects to another address"},
      {at_calls([](http_peer& peer, const auto&) {
         peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"");
         peer.close();
       }),
       "got no whole answer, and it is not known whether it did what was asked: "},
      {at_calls([](http_peer& peer, const auto&) {
         remote_server::begin_events(peer);
         peer.send_chunk("data: {}\n\n");
         remote_server::end_events(peer);
       }),
       "closed the stream before its answer, and it is not known whether it did what was asked"},
      {at_calls([](http_peer& peer, const auto&) {
         remote_server::begin_events(peer);
         peer.send_chunk("id: 1\n\n");
         peer.close();
       }),
       "lost its stream before its answer"}};
  for (const auto& [act, words] : faults) {
    const auto box = calling(act);
    CAPTURE(words);
    REQUIRE(box.failed());
    CAPTURE(box.text());
    CHECK(box.text().contains(words));
    CHECK(box.text().starts_with("tool server \"far\": tools/call far__echo "));
  }
  // An answer with an error status that is a JSON-RPC answer is one.
  const auto error = calling(at_calls(
      [](http_peer& peer, const auto& q) { remote_server::send_json(peer, 400, remote_server::error(q, -32602)); }));
  CHECK(error.times == 1);
  CHECK(error.last.type == mcp::rpc::call_outcome::kind::error);
}

TEST_CASE("G11: remote: messages above the limit fail their call and streams without end are bounded") {
  for (const bool stream : {false, true}) {
    const remote_server server(remote_server::era::modern, at_calls([stream](http_peer& peer, const auto& q) {
                                 const std::string big =
                                     remote_server::answer(q, remote_server::said(std::string(100'000, 'x')));
                                 if (!stream) return static_cast<void>(remote_server::send_json(peer, 200, big));
                                 remote_server::begin_events(peer);
                                 peer.send_chunk("data: " + big.substr(0, 50'000));
                                 for (int i = 0; i < 200 && peer.send_chunk(std::string(50'000, 'x')); ++i) {
                                 }
                                 peer.wait_closed();
                               }));
    remote_rig rig(server.url());
    rig.framing.max_message_bytes = 20'000;
    rig.start();
    REQUIRE(rig.ready());
    const auto box = rig.called();
    REQUIRE(box.failed());
    CHECK(box.text().contains("larger than 20000 bytes"));
    CHECK(rig.status().state == mcp::clients::server_state::ready);
  }
  // Comments and fields without end are no sign of life: the call's own limit ends it.
  const remote_server endless(
      remote_server::era::modern, at_calls([](http_peer& peer, const auto&) {
        remote_server::begin_events(peer);
        while (peer.send_chunk(": " + std::string(60'000, 'c') + "\nx: " + std::string(60'000, 'f') + "\n") &&
               !peer.wait_closed(1)) {
        }
      }));
  remote_rig rig(endless.url());
  rig.start();
  REQUIRE(rig.ready());
  remote_rig::outcome_box box;
  rig.call(box);
  REQUIRE(rig.until([&] { return endless.count("tools/call") == 1; }));
  rig.advance(61'000, 500);
  REQUIRE(rig.until([&] { return box.times == 1; }));
  CHECK(box.last.failure.code == errc::timed_out);
}

TEST_CASE("remote: a dropped stream is resumed with its last event id after the wait that the server named") {
  std::atomic<int> gets = 0;
  std::string id;
  const remote_server server(remote_server::era::legacy,
                             [&](http_peer& peer, const auto& q, const std::string& method) {
                               if (method == "tools/call") {
                                 id = remote_server::id_of(q);
                                 remote_server::begin_events(peer);
                                 peer.send_chunk("id: first\nretry: 500\ndata:\n\n");
                                 return remote_server::end_events(peer);
                               }
                               if (q.method != "GET" || q.header("last-event-id").empty()) return false;
                               ++gets;
                               remote_server::begin_events(peer);
                               peer.send_chunk("id: second\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + id +
                                               ",\"result\":" + remote_server::said("resumed") + "}\n\n");
                               return remote_server::end_events(peer);
                             });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  remote_rig::outcome_box box;
  rig.call(box);
  REQUIRE(rig.until([&] { return server.count("tools/call") == 1; }));
  rig.advance(400, 50);
  CHECK(gets == 0);
  rig.advance(150, 50);
  REQUIRE(rig.until([&] { return box.times == 1; }));
  CHECK(box.answered());
  CHECK(box.text().contains("resumed"));
  REQUIRE(gets == 1);
  for (const auto& q : server.requests("GET"))
    if (!q.header("last-event-id").empty()) {
      CHECK(q.header("last-event-id") == "first");
      CHECK(q.header("mcp-session-id") == "session-1");
    }
  CHECK(server.count("tools/call") == 1);
}

TEST_CASE("G10: remote: streams that are dropped at once with new ids and no wait lead to no storm of requests") {
  std::atomic<int> gets = 0;
  const remote_server server(remote_server::era::legacy,
                             [&](http_peer& peer, const auto& q, const std::string& method) {
                               if (method != "tools/call" && q.method != "GET") return false;
                               if (q.method == "GET") ++gets;
                               remote_server::begin_events(peer);
                               peer.send_chunk("id: " + std::to_string(gets) + "\nretry: 0\ndata:\n\n");
                               return remote_server::end_events(peer);
                             });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  remote_rig::outcome_box box;
  rig.call(box);
  rig.advance(5'000, 20);
  CHECK(gets >= 4);
  CHECK(gets <= 30);  // two streams: the call's and the session's
  CHECK(box.times == 0);
}

TEST_CASE("remote: a stream that cannot be resumed ends its call with what is not known") {
  const remote_server server(remote_server::era::legacy,
                             [&](http_peer& peer, const auto& q, const std::string& method) {
                               if (q.method == "GET" && !q.header("last-event-id").empty())
                                 return peer.send(plain(400, "", "no such event"));
                               if (method != "tools/call") return false;
                               remote_server::begin_events(peer);
                               peer.send_chunk("id: 1\nretry: 10\ndata:\n\n");
                               return remote_server::end_events(peer);
                             });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  remote_rig::outcome_box box;
  rig.call(box);
  REQUIRE(rig.until([&] { return server.count("tools/call") == 1; }));
  rig.advance(200, 20);
  REQUIRE(rig.until([&] { return box.times == 1; }));
  CHECK(
      box.text().contains("could not be resumed, and it is not known whether it did what was asked: HTTP status 400"));
}

TEST_CASE("remote: 429 and 503 are waited for as asked and a wait that is too long is told at once") {
  // The last one is a date of the past for the turned clock, and waits for a second.
  for (const std::string_view after : {"Retry-After: 2\r\n", "", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"}) {
    std::atomic<int> calls = 0;
    const remote_server server(remote_server::era::modern,
                               [&](http_peer& peer, const auto&, const std::string& method) {
                                 if (method != "tools/call" || calls++ != 0) return false;
                                 return peer.send(plain(429, after));
                               });
    remote_rig rig(server.url());
    rig.start();
    REQUIRE(rig.ready());
    remote_rig::outcome_box box;
    rig.call(box);
    REQUIRE(rig.until([&] { return calls == 1; }));
    rig.advance(after.ends_with("2\r\n") ? 1'900 : 900, 50);
    CHECK(calls == 1);
    rig.advance(200, 50);
    REQUIRE(rig.until([&] { return box.times == 1; }));
    CHECK(box.answered());
    CHECK(calls == 2);
  }
  const auto dated = calling(at_calls(
      [](http_peer& peer, const auto&) { peer.send(plain(503, "Retry-After: Fri, 31 Dec 2999 23:59:59 GMT\r\n")); }));
  REQUIRE(dated.failed());
  CHECK(dated.text().contains("(HTTP status 503); the server asks for a wait of 86400 s"));
  const auto huge =
      calling(at_calls([](http_peer& peer, const auto&) { peer.send(plain(429, "Retry-After: 3600\r\n")); }));
  REQUIRE(huge.failed());
  CHECK(huge.text().contains("was refused (HTTP status 429); the server asks for a wait of 3600 s"));
}

TEST_CASE("remote: a call is not sent again after a 503 that asks for no repetition, since it may have run") {
  for (const std::string_view after : {"Retry-After: 1\r\n", ""}) {
    std::atomic<int> calls = 0;
    const remote_server server(remote_server::era::modern,
                               [&](http_peer& peer, const auto&, const std::string& method) {
                                 return method == "tools/call" && calls++ == 0 && peer.send(plain(503, after));
                               });
    remote_rig rig(server.url());
    rig.start();
    REQUIRE(rig.ready());
    remote_rig::outcome_box box;
    rig.call(box);
    REQUIRE(rig.until([&] { return calls == 1; }));
    rig.advance(1'200);
    REQUIRE(rig.until([&] { return box.times == 1; }));
    CHECK(box.answered() == !after.empty());
    CHECK(calls == (after.empty() ? 1 : 2));
    if (after.empty()) CHECK(box.text().contains("503), and it is not known whether it did what was asked"));
  }
}

TEST_CASE("remote: a call that is answered with an error about some session of its own is not sent again") {
  std::atomic<int> calls = 0;
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q,
                                                             const std::string& method) {
    if (method != "tools/call") return false;
    ++calls;
    return remote_server::send_json(peer, 400, remote_server::error(q, -32000, R"("the browser session has crashed")"));
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto box = rig.called();
  CHECK(box.text().contains("the browser session has crashed"));
  CHECK(calls == 1);
  CHECK(server.count("initialize") == 1);
}

TEST_CASE("remote: a server that knows no stream of its session and says 404 keeps its session") {
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string&) {
    return q.method == "GET" && send_plain(peer, 404, "text/html", "Cannot GET /mcp");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  REQUIRE(rig.until([&] { return server.count("GET") == 1; }));
  rig.advance(3'000);
  CHECK(rig.called().answered());
  CHECK(server.count("initialize") == 1);
  CHECK(server.count("GET") == 1);
}

TEST_CASE("remote: a server that refuses the stream of its session with 401 keeps its session") {
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string&) {
    return q.method == "GET" && send_plain(peer, 401, "text/plain", "no", "WWW-Authenticate: Bearer\r\n");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  REQUIRE(rig.until([&] { return server.count("GET") == 1; }));
  rig.advance(3'000);
  CHECK(rig.called().answered());
  CHECK(server.count("initialize") == 1);
  CHECK(server.count("GET") == 1);
}

TEST_CASE("remote: an answer to a question of a session that has ended answers none of the next one") {
  std::atomic<int> calls = 0;
  std::atomic<bool> ask = false, expire = false, answer = false;
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q,
                                                             const std::string& method) {
    if (q.method == "GET") {
      remote_server::begin_events(peer);
      while (!peer.wait_closed(5))
        if (ask.exchange(false))
          peer.send_chunk("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{}}\n\n");
      return true;
    }
    if (method != "tools/call") return false;
    const bool first = calls++ == 0;
    while (!(first ? expire : answer))
      if (peer.wait_closed(5)) return true;
    return first && send_plain(peer, 404, "text/plain", "session unknown");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto questions = std::make_shared<question_recorder>();
  remote_rig::outcome_box box;
  mcp::clients::server_call c;
  c.params = raw_json::literal(R"({"name":"echo","arguments":{}})");
  c.name = "far__echo";
  c.questions = questions;
  c.done = [&box](mcp::rpc::call_outcome o) {
    ++box.times;
    box.last = std::move(o);
  };
  rig.supervisor->snapshot()->find("far__echo")->owner.lock()->call(std::move(c));
  REQUIRE(rig.until([&] { return server.count("GET") == 1 && calls == 1; }));
  ask = true;
  REQUIRE(rig.until([&] { return questions->questions.size() == 1; }));
  expire = true;
  REQUIRE(rig.until([&] { return server.count("GET") == 2 && calls == 2; }));
  CHECK(questions->questions[0].withdrawn);
  ask = true;
  REQUIRE(rig.until([&] { return questions->questions.size() == 2; }));
  questions->answer(0, R"({"old":1})");
  questions->answer(1, R"({"new":1})");
  const auto answers = [&] {
    std::vector<std::string> all;
    for (const auto& q : server.requests("POST"))
      if (q.body.contains(R"("id":1,"result")")) all.push_back(q.body);
    return all;
  };
  REQUIRE(rig.until([&] { return !answers().empty(); }));
  CHECK(answers() == std::vector<std::string>{R"({"jsonrpc":"2.0","id":1,"result":{"new":1}})"});
  answer = true;
  REQUIRE(rig.until([&] { return box.times == 1; }));
  CHECK(box.answered());
}

TEST_CASE("remote: a server that comes back at its port loses no call that it had not seen") {
  auto first = std::make_unique<remote_server>(remote_server::era::legacy);
  const auto port = first->port();
  remote_rig rig(first->url());
  rig.start();
  REQUIRE(rig.ready());
  first.reset();
  rig.advance(100);
  remote_rig::outcome_box box;
  rig.call(box);
  rig.advance(200, 20);
  const remote_server second(remote_server::era::legacy, {}, port);
  for (int i = 0; i < 60 && box.times == 0; ++i) rig.advance(100, 50);
  REQUIRE(box.times == 1);
  CHECK(box.answered());
}

TEST_CASE("remote: a server that does not answer its DELETE delays the stop for a second only") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto& q, const auto&) {
    if (q.method != "DELETE") return false;
    peer.wait_closed();
    return true;
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  bool stopped = false;
  rig.supervisor->stop([&] { stopped = true; }, milliseconds(0));
  REQUIRE(rig.until([&] { return server.count("DELETE") == 1; }));
  CHECK_FALSE(stopped);
  rig.advance(1'200, 100);
  CHECK(rig.until([&] { return stopped; }));
}

TEST_CASE("G35: a token that the server repeats is in no sentence") {
  redactor::add(secret("canary-token-4711"));
  const auto with_token = [](mcp::remote::remote_spec& spec) {
    spec.headers = {{"Authorization", "Bearer canary-token-4711"}};
  };
  for (const int status : {403, 404, 500, 503})
    CHECK_FALSE(opening(always(plain(status, "", "bad token canary-token-4711")), with_token).first.contains("canary"));
  const auto box =
      calling(at_calls([](http_peer& peer, const auto&) { peer.send(plain(500, "", "bad token canary-token-4711")); }));
  CHECK_FALSE(redactor::redact(box.text()).contains("canary"));
}

TEST_CASE("G33: remote: a certificate that nobody trusts is refused before anything is sent") {
  const identity who("DNS:localhost");
  const tls_server server(who);
  remote_rig rig("https://localhost:" + std::to_string(server.port()) + "/mcp");
  rig.start();
  CHECK(rig.failure().contains("cannot be trusted: localhost:"));
  CHECK(rig.status().remote->problem == "certificate");
  CHECK(server.requests().empty());
}

TEST_CASE("remote: a server that wants a certificate of ours is one that says so, with the key that mends it") {
  const identity who("DNS:localhost"), me("DNS:me.example");
  const tls_server server(who, "", &me);
  const pem_file ca(who.pem());
  const auto url = "https://localhost:" + std::to_string(server.port()) + "/mcp";
  remote_rig rig(url, [&](auto& spec) { spec.trust.ca_file = ca.path; });
  rig.start();
  CHECK(rig.failure().ends_with("cannot be asked: localhost:" + std::to_string(server.port()) +
                                " was not asked: it wants a certificate of the client; name one that it takes as "
                                "\"clientCertFile\" of its entry"));
  CHECK(rig.status().remote->problem == "certificate");
  CHECK(server.requests().empty());

  remote_rig missing(url, [&](auto& spec) { spec.trust.ca_file = "/no/such/file.pem"; });
  missing.start();
  CHECK(
      missing.failure().ends_with("cannot be asked: The trusted certificates in \"/no/such/file.pem\" cannot be read: "
                                  "No such file or directory"));
}

TEST_CASE("remote: a batch without the answer to its request fails the call at once") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto& q, const std::string& method) {
    if (method != "tools/call") return false;
    const bool whole = q.body.contains("whole");
    const std::string note = R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})";
    return remote_server::send_json(
        peer, 200, "[" + note + (whole ? "," + remote_server::answer(q, remote_server::said("done")) : "") + "]");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto box = rig.called();
  CHECK(box.failed());
  CHECK(box.text().find("no answer to it") != std::string::npos);
  CHECK(rig.called(R"({"name":"echo","arguments":{"which":"whole"}})").answered());
}
