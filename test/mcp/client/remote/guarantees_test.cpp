// Proves for servers at an address what docs/guarantees.md promises of all tool servers: noise, floods, wrong bytes,
// answers that belong to others, lists without end.
#include "test/mcp/client/remote/remote_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

// Answers calls with `act` and everything else as it should be.
remote_server::handler calls_by(std::function<void(http_peer&, const http_peer::request&)> act) {
  return [act](http_peer& peer, const http_peer::request& q, const std::string& method) {
    if (method != "tools/call") return false;
    act(peer, q);
    return true;
  };
}

std::string event(std::string_view message) {
  return "data: " + std::string(message) + "\n\n";
}

// The text that the arguments of a call have as `say`.
std::string said_by(const http_peer::request& q) {
  const auto body = raw_json::parse(q.body);
  return body ? member_text(find_member(find_member(*body, "params"), "arguments"), "say") : std::string();
}

}  // namespace

TEST_CASE("G9: remote: what is no message in a stream is skipped and counted and the answer behind it arrives") {
  const remote_server server(remote_server::era::legacy, calls_by([](http_peer& peer, const auto& q) {
                               remote_server::begin_events(peer);
                               peer.send_chunk("\xEF\xBB\xBF: hello\r\n\r\nretry: soon\r\nnonsense\r\n\r\n");
                               for (const char* const noise : {"Listening on port 80", "ready", "{\"a\":", "{}",
                                                               R"({"jsonrpc":"1.0","method":"x"})"})
                                 peer.send_chunk(event(noise));
                               peer.send_chunk("event: heartbeat\ndata: 1\n\n");
                               peer.send_chunk(event(remote_server::answer(q, remote_server::said("done"))));
                               remote_server::end_events(peer);
                             }));
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.called().answered());
  CHECK(rig.status().noise_lines == 2);  // the others are messages that are not accepted
  CHECK(rig.called().answered());
  CHECK(rig.status().state == mcp::clients::server_state::ready);
}

TEST_CASE("G10: remote: a flood of notifications in the stream of a call keeps no neighbour waiting") {
  std::atomic<bool> flooding = false, enough = false;
  const remote_server loud(remote_server::era::legacy, calls_by([&](http_peer& peer, const auto& q) {
                             std::string many;
                             for (int i = 0; i < 200; ++i)
                               many += event(R"({"jsonrpc":"2.0","method":"notifications/message",)"
                                             R"("params":{"level":"info","data":"noise"}})");
                             remote_server::begin_events(peer);
                             while (!enough && peer.send_chunk(many)) flooding = true;
                             peer.send_chunk(event(remote_server::answer(q, remote_server::said("done"))));
                             remote_server::end_events(peer);
                           }));
  const remote_server quiet(remote_server::era::legacy);
  remote_rig rig(loud.url());
  std::vector<mcp::supervise::server_options> both;
  both.push_back(rig.server());
  both.push_back(rig.server());
  both[1].name = "near";
  both[1].connect = [&] {
    return mcp::remote::make_remote_connector(
        "near", quiet.url(), {*rig.loop.client, rig.time, rig.verdicts, rig.framing}, [&](const auto& then) {
          mcp::remote::remote_spec spec;
          spec.url = quiet.url();
          then(std::move(spec));
        });
  };
  rig.supervisor->apply(std::move(both));
  REQUIRE(rig.until(
      [&] { return rig.supervisor->snapshot()->find("far__echo") && rig.supervisor->snapshot()->find("near__echo"); }));
  remote_rig::outcome_box flood;
  rig.call(flood);
  REQUIRE(rig.until([&] { return flooding.load(); }));
  for (int i = 0; i < 50; ++i) CHECK(rig.called(R"({"name":"echo","arguments":{}})", "near__echo").answered());
  CHECK(flood.times == 0);
  enough = true;
  REQUIRE(rig.until([&] { return flood.times == 1; }));
  CHECK(flood.answered());
}

TEST_CASE("G10: remote: a flood of requests in the stream of a call is answered at a bounded rate") {
  const remote_server server(
      remote_server::era::legacy, calls_by([](http_peer& peer, const auto& q) {
        remote_server::begin_events(peer);
        for (int i = 0; i < 1'000; ++i)
          peer.send_chunk(event(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"vendor/please"})"));
        peer.send_chunk(event(remote_server::answer(q, remote_server::said("done"))));
        remote_server::end_events(peer);
      }));
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  const auto before = server.requests().size();
  CHECK(rig.called().answered());
  REQUIRE(rig.until([&] { return server.requests().size() - before >= 10; }));
  rig.advance(500, 100);
  // The call itself, and at most 64 answers at once with 50 more in each second.
  CHECK(server.requests().size() - before <= 1 + 64 + 50);
}

TEST_CASE("G12: remote: no bytes of an answer crash the reader or confuse it") {
  const auto body = [](std::string_view text) {
    return R"({"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":)" + std::string(text) + "}}";
  };
  const auto deep = [&](std::size_t levels) { return body(std::string(levels, '[') + std::string(levels, ']')); };
  const std::vector<std::pair<std::string, bool>> answers{
      {deep(100), true},
      {deep(10'000), false},
      {deep(1'000'000), false},
      {body("\"\xFF\xC0\x80\""), true},  // repaired, as on stdout
      {body(R"("\ud800")"), true},       // the bytes of an escape are passed on
      {body("1e999"), true},
      {body(std::string(10'000, '9')), true},
      {body("1") + body("2"), false},
      {R"({"jsonrpc":"2.0","id":ID,"id":ID,"result":{}})", false},
      {R"({"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"x"}})", false},
      {R"({"jsonrpc":"2.0","id":"ID","result":{}})", false},
      {R"({"jsonrpc":"2.0","id":ID.0,"result":{}})", false},
      {std::string("\0\0\0\0", 4), false}};
  for (const bool stream : {false, true})
    for (const auto& [text, good] : answers) {
      CAPTURE(stream);
      CAPTURE(text.substr(0, 80));
      const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const auto& method) {
        if (method != "tools/call" || said_by(q) == "well") return false;
        std::string answer = text;
        for (auto at = answer.find("ID"); at != std::string::npos; at = answer.find("ID"))
          answer.replace(at, 2, remote_server::id_of(q));
        if (!stream) return remote_server::send_json(peer, 200, answer);
        remote_server::begin_events(peer);
        peer.send_chunk(event(answer));
        return remote_server::end_events(peer);
      });
      remote_rig rig(server.url());
      rig.start();
      REQUIRE(rig.ready());
      const auto box = rig.called();
      CHECK_MESSAGE(box.answered() == good, box.text());
      CHECK(box.times == 1);
      CHECK(rig.called(R"({"name":"echo","arguments":{"say":"well"}})").answered());
    }
}

TEST_CASE("G13: remote: an answer reaches its own request alone, whatever else is in its stream") {
  // Each stream has answers to everybody: with the id of another type, of the call before and the call behind, and
  // twice.
  const remote_server server(
      remote_server::era::legacy, calls_by([](http_peer& peer, const auto& q) {
        const int mine = std::stoi(remote_server::id_of(q));
        const auto answer = [&](const std::string& id, const std::string& text) {
          return event(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + remote_server::said(text) + "}");
        };
        remote_server::begin_events(peer);
        peer.send_chunk(answer('"' + std::to_string(mine) + '"', "WRONG"));
        peer.send_chunk(answer(std::to_string(mine) + ".0", "WRONG"));
        peer.send_chunk(answer(std::to_string(mine + 100'000), "WRONG"));
        peer.send_chunk(answer(std::to_string(mine), said_by(q)));
        peer.send_chunk(answer(std::to_string(mine), "WRONG"));
        remote_server::end_events(peer);
      }));
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  std::list<std::pair<std::string, remote_rig::outcome_box>> calls;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 50; ++i) {
      auto& [canary, box] = calls.emplace_back("canary-" + std::to_string(round) + "-" + std::to_string(i) + ";",
                                               remote_rig::outcome_box());
      rig.call(box, R"({"name":"echo","arguments":{"say":)" + json_quoted(canary) + "}}");
    }
    REQUIRE(rig.until([&] { return std::ranges::all_of(calls, [](const auto& c) { return c.second.times > 0; }); }));
  }
  for (const auto& [canary, box] : calls) {
    CHECK(box.answered());
    CHECK(box.text().contains(canary));
    CHECK_FALSE(box.text().contains("WRONG"));
  }
  CHECK(rig.status().dropped_answers > 0);
}

TEST_CASE("G15: remote: bad tool definitions go alone and a list that repeats its cursor ends") {
  const remote_server server(remote_server::era::legacy, [](http_peer& peer, const auto& q, const std::string& method) {
    if (method != "tools/list") return false;
    const std::string bad =
        R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":7},{"inputSchema":{}},17,)"
        R"({"name":"odd","inputSchema":"text"}],"nextCursor":"again"})";
    return remote_server::send_json(peer, 200, remote_server::answer(q, bad));
  });
  remote_rig rig(server.url());
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.called().answered());
  CHECK(server.count("tools/list") == 2);
  CHECK_FALSE(rig.supervisor->snapshot()->find("far__odd"));
}
