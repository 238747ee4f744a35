// Streamable HTTP of both eras, as a server sees it: what each message is sent with, sessions, streams, the end.
#include "test/mcp/client/question_recorder.hpp"
#include "test/mcp/client/remote/event_stream_server.hpp"
#include "test/mcp/client/remote/remote_rig.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <latch>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

}  // namespace

TEST_CASE("M3: a modern server gets each request with the headers that repeat it and no session") {
  remote_server server(remote_server::era::modern);
  server.tools =
      R"({"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"where":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"Count"},"gone":{"type":"string","x-mcp-header":"Gone"}}}}]})";
  remote_rig rig(server.url(), [](auto& spec) { spec.headers = {{"X-Own", "1"}, {"Mcp-Method", "forged"}}; });
  rig.start();
  REQUIRE(rig.ready());
  const auto box = rig.called(R"({"name":"echo","arguments":{"where":"Zürich","n":42.0,"gone":null}})");
  CHECK(box.answered());
  CHECK(rig.status().era == mcp::clients::era::modern);
  REQUIRE(rig.status().remote);
  CHECK(rig.status().remote->transport == "streamable-http");
  CHECK(rig.status().remote->problem.empty());
  for (const auto& q : server.requests()) {
    CHECK(q.header("mcp-protocol-version") == "2026-07-28");
    CHECK(q.header("mcp-method") == remote_server::method_of(q));
    CHECK(q.header("x-own") == "1");
    CHECK(q.header("accept") == "application/json, text/event-stream");
    CHECK(q.header("accept-encoding") == "identity");
    CHECK(q.header("mcp-session-id").empty());
  }
  const auto calls = server.requests("tools/call");
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].header("mcp-name") == "echo");
  CHECK(calls[0].header("mcp-param-region") == "=?base64?WsO8cmljaA==?=");
  CHECK(calls[0].header("mcp-param-count") == "42.0");
  CHECK(calls[0].header("mcp-param-gone").empty());
  CHECK(server.count("GET") == 0);
  CHECK(server.count("initialize") == 0);
}

TEST_CASE(
    "M3: a modern server gets in Mcp-Name what a request is about, be it a tool, a prompt, a resource or a task") {
  const remote_server server(remote_server::era::modern);
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  constexpr std::array<std::array<std::string_view, 3>, 8> table{{
      {"tools/call", R"({"name":"echo","arguments":{"uri":"no"}})", "echo"},
      {"prompts/get", R"({"name":"a/b"})", "a/b"},
      {"resources/read", R"({"uri":"file:///\u00fc"})", "=?base64?ZmlsZTovLy/DvA==?="},
      {"tasks/get", R"({"taskId":"t-1"})", "t-1"},
      {"tasks/update", R"({"taskId":"t-2","inputResponses":{}})", "t-2"},
      {"tasks/cancel", R"({"taskId":"t-3"})", "t-3"},
      {"completion/complete", R"({"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"x","value":""}})", ""},
      {"resources/templates/list", R"({"name":"a","uri":"b","taskId":"c"})", ""},
  }};
  for (const auto& [method, params, name] : table) {
    CAPTURE(method);
    rig.called(params, "far__echo", method);
    const auto sent = server.requests(method);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].header("mcp-method") == method);
    CHECK(sent[0].header("mcp-name") == name);
  }
}

TEST_CASE("M3: an old server gets its session id and revision with everything after the handshake and DELETE last") {
  const remote_server server(remote_server::era::legacy);
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.called().answered());
  CHECK(rig.status().revision == "2025-11-25");
  REQUIRE(rig.until([&] { return server.count("GET") == 1; }));
  bool stopped = false;
  rig.supervisor->stop([&] { stopped = true; }, milliseconds(0));
  REQUIRE(rig.until([&] { return stopped; }));
  const auto all = server.requests();
  REQUIRE(all.size() == 7);
  CHECK(remote_server::method_of(all[0]) == "server/discover");
  CHECK(remote_server::method_of(all[1]) == "initialize");
  CHECK(all[1].header("mcp-session-id").empty());
  CHECK(all[1].header("mcp-protocol-version").empty());
  CHECK(all[1].header("mcp-method").empty());
  for (std::size_t i = 2; i < all.size(); ++i) {
    CHECK(all[i].header("mcp-session-id") == "session-1");
    CHECK(all[i].header("mcp-protocol-version") == "2025-11-25");
  }
  CHECK(all.back().method == "DELETE");
}

TEST_CASE("G15: remote: tools with an x-mcp-header that breaks a rule are left out and named and the others stay") {
  remote_server server(remote_server::era::modern);
  server.tools =
      R"({"tools":[{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}},)"
      R"({"name":"echo","inputSchema":{"type":"object"}}]})";
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK_FALSE(rig.supervisor->snapshot()->find("far__bad"));
  CHECK(rig.supervisor->snapshot()->find("far__echo"));
}

TEST_CASE("remote: a revision that the server refuses first is tried again with the one that it supports") {
  std::atomic<int> asked = 0;
  const remote_server server(
      remote_server::era::modern, [&](http_peer& peer, const auto& q, const std::string& method) {
        if (method != "server/discover" || asked++ != 0) return false;
        return remote_server::send_json(
            peer, 400, remote_server::error(q, -32022, R"({"supported":["2026-07-28"],"requested":"2026-07-28"})"));
      });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK(asked == 2);
  CHECK(rig.status().era == mcp::clients::era::modern);
}

TEST_CASE("remote: headers that the server refuses are renewed with the list of its tools, once for each call") {
  std::atomic<bool> changed = false, always = false;
  const remote_server server(
      remote_server::era::modern, [&](http_peer& peer, const auto& q, const std::string& method) {
        const std::string tools =
            R"({"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"where":{"type":"string")" +
            std::string(changed ? R"(,"x-mcp-header":"Region")" : "") + "}}}}]}";
        if (method == "tools/list") return remote_server::send_json(peer, 200, remote_server::answer(q, tools));
        if (method != "tools/call") return false;
        changed = true;
        if (!always && q.header("mcp-param-region") == "here") return false;
        return remote_server::send_json(peer, 400, remote_server::error(q, -32020));
      });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  rig.advance(10'500, 500);
  remote_rig::outcome_box box;
  rig.call(box, R"({"name":"echo","arguments":{"where":"here"}})");
  for (int i = 0; i < 40 && box.times == 0; ++i) rig.advance(50);
  CHECK(box.answered());
  CHECK(server.count("tools/call") == 2);
  CHECK(server.count("tools/list") == 2);
  always = true;
  remote_rig::outcome_box refused;
  rig.call(refused, R"({"name":"echo","arguments":{"where":"here"}})");
  for (int i = 0; i < 200 && refused.times == 0; ++i) rig.advance(50);
  CHECK(refused.last.type == mcp::rpc::call_outcome::kind::error);
  CHECK(server.count("tools/call") == 4);
}

TEST_CASE("remote: answers may come as events with progress before them and the connection is used again") {
  const remote_server server(
      remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string& method) {
        if (method != "tools/call") return false;
        remote_server::begin_events(peer);
        peer.send_chunk("id: 1\ndata:\n\n: a comment\n\n");
        peer.send_chunk(R"(data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                        remote_server::id_of(q) +
                        R"(,"progress":1}})"
                        "\n\n");
        peer.send_chunk("event: other\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + remote_server::id_of(q) +
                        ",\"result\":{\"content\":[]}}\n\n");
        // One message over several lines of data, cut in the middle.
        const std::string text = remote_server::answer(q, remote_server::said("streamed"));
        const auto comma = text.find(',') + 1;
        peer.send_chunk("event: message\nid: 2\nda");
        peer.send_chunk("ta: " + text.substr(0, comma) + "\r\ndata: " + text.substr(comma, 5));
        peer.send_chunk(text.substr(comma + 5) + "\r\n\r\n");
        return remote_server::end_events(peer);
      });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto before = server.connections();
  for (int i = 0; i < 3; ++i) {
    const auto box = rig.called();
    REQUIRE(box.answered());
    CHECK(box.text().contains("streamed"));
    CHECK(box.progress.size() == 1);
    rig.advance(50);
  }
  CHECK(server.connections() <= before + 1);
  CHECK(server.count("tools/call") == 3);
}

TEST_CASE("remote: cancelling closes the stream of a modern server and notifies an old one") {
  for (const auto which : {remote_server::era::modern, remote_server::era::legacy}) {
    std::atomic<bool> closed = false;
    const remote_server server(which, [&](http_peer& peer, const auto&, const std::string& method) {
      if (method != "tools/call") return false;
      remote_server::begin_events(peer);
      closed = peer.wait_closed();
      return true;
    });
    remote_rig rig(server.url());
    rig.start();
    REQUIRE(rig.ready());
    remote_rig::outcome_box box;
    const auto ticket = rig.call(box);
    REQUIRE(rig.until([&] { return server.count("tools/call") == 1; }));
    rig.supervisor->snapshot()->find("far__echo")->owner.lock()->cancel(ticket, "enough");
    REQUIRE(rig.until([&] { return box.times == 1 && closed; }));
    CHECK(box.last.failure.code == errc::cancelled);
    if (which == remote_server::era::legacy) {
      REQUIRE(rig.until([&] { return server.count("notifications/cancelled") == 1; }));
      CHECK(server.requests("notifications/cancelled")[0].header("mcp-session-id") == "session-1");
    } else {
      rig.advance(100);
      CHECK(server.count("notifications/cancelled") == 0);
    }
  }
}

TEST_CASE("remote: the stream of a session brings changes and the server's requests are answered by POST") {
  std::atomic<bool> told = false;
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string&) {
    if (q.method != "GET") return false;
    remote_server::begin_events(peer);
    peer.send_chunk("data: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n\n");
    told = true;
    peer.wait_closed();
    return true;
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  REQUIRE(rig.until([&] {
    const auto all = server.requests("POST");
    return std::ranges::any_of(all,
                               [](const auto& q) { return q.body == R"({"jsonrpc":"2.0","id":"a","result":{}})"; });
  }));
}

TEST_CASE("remote: a session that the server has forgotten is opened anew and the call is made in the new one") {
  std::atomic<int> calls = 0;
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto&, const std::string& method) {
    if (method != "tools/call" || calls++ != 0) return false;
    return remote_server::send_json(
        peer, 404, R"({"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null})");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto box = rig.called();
  CHECK(box.answered());
  CHECK(server.count("initialize") == 2);
  CHECK(server.count("tools/call") == 2);
  CHECK(rig.status().restarts == 0);
  CHECK(rig.status().last_error.empty());
}

TEST_CASE("remote: a call that no session takes fails after three more sessions with a sentence") {
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto&, const std::string& method) {
    if (method != "tools/call") return false;
    return send_plain(peer, 404, "text/plain", "session unknown");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto box = rig.called();
  CHECK(box.failed());
  CHECK(box.text().contains("has ended the session"));
  CHECK(server.count("tools/call") == 4);
}

TEST_CASE(
    "G33: remote: a redirect within the origin is followed and one to another origin is refused without headers") {
  std::atomic<int> elsewhere = 0;
  const remote_server other(remote_server::era::modern, [&](http_peer&, const auto&, const std::string&) {
    ++elsewhere;
    return false;
  });
  const remote_server server(remote_server::era::modern, [&](http_peer& peer, const auto& q, const std::string&) {
    if (q.target == "/mcp") return send_plain(peer, 307, "text/plain", "", "Location: /mcp/\r\n");
    if (q.target == "/away") return send_plain(peer, 308, "text/plain", "", "Location: " + other.url() + "\r\n");
    if (q.target == "/circle") return send_plain(peer, 302, "text/plain", "", "Location: /circle\r\n");
    return false;
  });
  remote_rig near(server.url());
  near.start();
  REQUIRE(near.ready());
  CHECK(near.called().answered());

  remote_rig away(server.url("/away"), [](auto& spec) { spec.headers = {{"Authorization", "Bearer canary-canary"}}; });
  away.start();
  CHECK(away.failure().contains("redirects to another address"));
  CHECK(away.status().start_failed);
  CHECK(elsewhere == 0);

  remote_rig circle(server.url("/circle"));
  circle.start();
  CHECK(circle.failure().contains("redirects in a circle"));
}

TEST_CASE("remote: a redirect of one call to a page that is none of MCP's leads no later call there") {
  std::atomic<bool> signed_out = false;
  const remote_server server(remote_server::era::legacy,
                             [&](http_peer& peer, const auto& q, const std::string& method) {
                               if (q.target == "/login")
                                 return send_plain(peer, 200, "text/html", "<html>sign in</html>");
                               if (method != "tools/call" || !signed_out.exchange(false)) return false;
                               return send_plain(peer, 302, "text/plain", "", "Location: /login\r\n");
                             });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  signed_out = true;
  CHECK(rig.called().text().contains("text/html"));
  CHECK(rig.called().answered());
  CHECK(server.requests("tools/call").back().target == "/mcp");
}

TEST_CASE("remote: the deprecated HTTP+SSE transport is tried last, once, and remembered for the address") {
  event_stream_server old("/sse");
  remote_rig rig(old.server.url("/sse"));
  rig.start();
  REQUIRE(rig.ready());
  const auto box = rig.called();
  CHECK(box.answered());
  CHECK(box.text().contains("old"));
  CHECK(rig.status().remote->transport == "sse");
  const auto tried = old.server.count("POST");
  CHECK(old.server.count("server/discover") == 1);
  REQUIRE(rig.supervisor->restart("far"));
  REQUIRE(rig.until([&] { return old.streams == 2; }));
  REQUIRE(rig.ready());
  CHECK(old.server.count("server/discover") == 1);
  for (const auto& q : old.server.requests("POST"))
    if (q.target == "/sse") CHECK(q.method == "POST");
  CHECK(tried >= 5);
  old.stop = true;
}

TEST_CASE("remote: a redirect of the deprecated event stream is followed within the origin and no further") {
  for (const bool first : {true, false}) {
    CAPTURE(first);
    event_stream_server old("/sse/");
    remote_rig rig(old.server.url("/sse"), [&](auto& spec) { spec.events_first = first; });
    rig.start();
    REQUIRE(rig.ready());
    CHECK(rig.called().answered());
    REQUIRE(rig.supervisor->restart("far"));
    REQUIRE(rig.until([&] { return old.streams == 2; }));
    REQUIRE(rig.ready());
    old.stop = true;
  }
  for (const std::string to : {"http://other.example/sse", "/sse"}) {
    CAPTURE(to);
    const remote_server circle(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string&) {
      if (q.method != "GET") return send_plain(peer, 405, "text/plain", "no");
      return peer.send("HTTP/1.1 307 X\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n");
    });
    remote_rig rig(circle.url("/sse"), [](auto& spec) { spec.events_first = true; });
    rig.start();
    CHECK(rig.failure().contains("does not speak MCP"));
    CHECK(circle.count("GET") <= 7);
  }
}

TEST_CASE("remote: a server that leads those who only look to a page for people keeps its address for messages") {
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string&) {
    if (q.target == "/about") return send_plain(peer, 404, "text/plain", "no messages here");
    if (q.method != "GET") return false;
    return peer.send("HTTP/1.1 302 X\r\nLocation: /about\r\nContent-Length: 0\r\n\r\n");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  REQUIRE(rig.until([&] { return server.count("GET") >= 1; }));
  for (int i = 0; i < 3; ++i) CHECK(rig.called().answered());
}

TEST_CASE("remote: a question that comes in the stream of a call belongs to it whoever else has calls there") {
  struct asked final : mcp::clients::question_handler {
    int times = 0;
    ticket ask(mcp::clients::server_question q, done_handler done) override {
      ++times;
      CHECK(q.method == "elicitation/create");
      answer = std::move(done);
      return 1;
    }
    void withdraw(ticket, std::string_view) override {}
    done_handler answer;
  };
  std::atomic<int> streams = 0;
  std::atomic<bool> answered = false;
  const remote_server server(
      remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string& method) {
        if (q.body.contains("\"id\":\"q1\"") && method.empty()) answered = true;
        if (method != "tools/call") return false;
        remote_server::begin_events(peer);
        if (++streams == 2)
          peer.send_chunk(R"(data: {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"m"}})"
                          "\n\n");
        while (streams < 3 && !peer.wait_closed(5)) {
        }
        peer.send_chunk("data: " + remote_server::answer(q, remote_server::said("x")) + "\n\n");
        return remote_server::end_events(peer);
      });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto owner = rig.supervisor->snapshot()->find("far__echo")->owner.lock();
  std::vector<std::shared_ptr<asked>> people;
  int ended = 0;
  for (const char* who : {"one", "two"}) {
    people.push_back(std::make_shared<asked>());
    mcp::clients::server_call s;
    s.params = raw_json::literal(R"({"name":"echo"})");
    s.name = "echo";
    s.principal = who;
    s.questions = people.back();
    s.done = [&](const mcp::rpc::call_outcome&) { ++ended; };
    owner->call(std::move(s));
    REQUIRE(rig.until([&] { return streams == static_cast<int>(people.size()); }));
  }
  REQUIRE(rig.until([&] { return people[1]->times == 1; }));
  CHECK(people[0]->times == 0);
  people[1]->answer({mcp::rpc::call_outcome::kind::result, raw_json::literal(R"({"action":"decline"})"), {}});
  REQUIRE(rig.until([&] { return answered.load(); }));
  streams = 3;
  CHECK(rig.until([&] { return ended == 2; }));
}

namespace {

// A call whose server asks a question in its stream, and says `refuse` to the answer so many times.
struct refused_answer {
  refused_answer(int times, std::string refuse)
      : left(times),
        refusal(std::move(refuse)),
        server(remote_server::era::legacy,
               [this](http_peer& peer, const auto& q, const std::string& method) {
                 if (q.body.contains("\"id\":\"q1\"") && method.empty()) {
                   if (left-- > 0) return peer.send(refusal);
                   taken = true;
                   return false;
                 }
                 if (method != "tools/call") return false;
                 remote_server::begin_events(peer);
                 peer.send_chunk(
                     R"(data: {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"m"}})"
                     "\n\n");
                 while (!taken)
                   if (peer.wait_closed(5)) return true;
                 peer.send_chunk("data: " + remote_server::answer(q, remote_server::said("x")) + "\n\n");
                 return remote_server::end_events(peer);
               }),
        rig(server.url()) {
    rig.start();
    REQUIRE(rig.ready());
    mcp::clients::server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.name = "echo";
    c.questions = questions;
    c.done = [this](mcp::rpc::call_outcome o) {
      ++box.times;
      box.last = std::move(o);
    };
    rig.supervisor->snapshot()->find("far__echo")->owner.lock()->call(std::move(c));
    REQUIRE(rig.until([&] { return questions->questions.size() == 1; }));
    questions->answer(0, R"({"action":"decline"})");
  }
  std::size_t answers() {
    std::size_t n = 0;
    for (const auto& q : server.requests("POST")) n += q.body.contains("\"id\":\"q1\"") ? 1 : 0;
    return n;
  }

  std::atomic<int> left;
  std::atomic<bool> taken = false;
  std::string refusal;
  std::shared_ptr<question_recorder> questions = std::make_shared<question_recorder>();
  remote_rig::outcome_box box;
  remote_server server;
  remote_rig rig;
};

}  // namespace

TEST_CASE("remote: an answer that a busy server does not take is sent again after its wait") {
  for (const char* refusal : {"HTTP/1.1 429 X\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n",
                              "HTTP/1.1 503 X\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"}) {
    refused_answer at(2, refusal);
    REQUIRE(at.rig.until([&] { return at.answers() == 1; }));
    at.rig.advance(1'500, 100);
    CHECK(at.answers() == 1);
    at.rig.advance(4'000, 100);
    CHECK(at.rig.until([&] { return at.box.times == 1; }));
    CHECK(at.box.answered());
    CHECK(at.answers() == 3);
  }
}

TEST_CASE("remote: a call fails with a sentence if the answer to its question is refused for good") {
  refused_answer at(100, "HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");
  at.rig.advance(5'000, 100);
  CHECK(at.rig.until([&] { return at.box.times == 1; }));
  CHECK(
      at.box.text().contains("the server asked a question whose answer was refused (HTTP status 429), and it is not "
                             "known whether it did what was asked"));
  CHECK(at.answers() == 4);
  refused_answer never(100, "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n");
  CHECK(never.rig.until([&] { return never.box.times == 1; }));
  CHECK(never.box.text().contains("was refused (HTTP status 400)"));
  CHECK(never.answers() == 1);
  refused_answer later(100, "HTTP/1.1 503 X\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n");
  CHECK(later.rig.until([&] { return later.box.times == 1; }));
  CHECK(later.answers() == 1);
}

TEST_CASE("remote: a notification that a busy server does not take is sent again") {
  std::atomic<int> told = 0;
  const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto&, const std::string& method) {
    return method == "notifications/initialized" && told++ == 0 &&
           peer.send("HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.until([&] { return told == 1; }));
  rig.advance(1'500, 100);
  CHECK(rig.until([&] { return told == 2 && server.count("GET") == 1; }));
  CHECK(rig.ready());
}

TEST_CASE("remote: a server on a Unix socket is reached by its path") {
  const temporary_directory folder;
  const std::string path = folder / "s";
  const http_listener server(path, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      CHECK(q.target == "/tools/mcp");
      const std::string method = remote_server::method_of(q);
      remote_server::send_json(
          peer, 200,
          remote_server::answer(
              q, method == "server/discover"
                     ? R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"})"
                 : method == "tools/list" ? R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})"
                                          : remote_server::said("by socket")));
    }
  });
  remote_rig rig("unix:" + path + ":/tools/mcp");
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.called().text().contains("by socket"));
}
