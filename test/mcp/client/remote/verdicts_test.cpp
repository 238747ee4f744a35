// The ways in which addresses were found to speak, and the hints that they give for their neighbours.
#include "mcp/client/connect/remote/remote_verdicts.hpp"
#include "test/mcp/client/remote/event_stream_server.hpp"
#include "test/mcp/client/remote/remote_rig.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using mcpbx::mcp::remote::remote_verdicts;
using mcpbx::mcp::remote::remote_way;

// A further entry for an address, in a daemon that has found out what `before` did.
struct further_rig : remote_rig {
  further_rig(const remote_rig& before, std::string address, std::function<void(mcp::remote::remote_spec&)> change = {})
      : remote_rig(std::move(address), std::move(change)) {
    verdicts = before.verdicts;
  }
};

std::size_t asked(const remote_server& server, std::string_view target, std::string_view method) {
  std::size_t n = 0;
  for (const auto& q : server.requests(method)) n += q.target == target ? 1 : 0;
  return n;
}

std::string origin_of(const remote_server& server) {
  return server.url("");
}

}  // namespace

TEST_CASE(
    "remote_verdicts: a verdict counts for a day and wrong ones are forgotten, with the origin's of the same kind") {
  remote_verdicts all;
  const time_point start{};
  all.note("http://h:1", "http://h:1/a", remote_way::legacy, start);
  all.note("http://h:1", "http://h:1/b", remote_way::event_stream, start + std::chrono::hours(1));
  CHECK(all.of_address("http://h:1/a", start) == remote_way::legacy);
  CHECK(all.of_address("http://h:1/c", start) == remote_way::unknown);
  CHECK(all.of_origin("http://h:1", start + std::chrono::hours(2)) == remote_way::event_stream);
  CHECK(all.of_origin("http://h:2", start) == remote_way::unknown);
  CHECK(all.of_address("http://h:1/a", start + remote_verdicts::good_for) == remote_way::unknown);
  CHECK(all.of_origin("http://h:1", start + remote_verdicts::good_for) == remote_way::event_stream);
  all.forget("http://h:1", "http://h:1/a");
  CHECK(all.of_address("http://h:1/a", start) == remote_way::unknown);
  CHECK(all.of_origin("http://h:1", start) == remote_way::event_stream);
  all.forget("http://h:1", "http://h:1/b");
  CHECK(all.of_origin("http://h:1", start) == remote_way::unknown);
  all.forget("http://h:1", "http://h:1/b");
}

TEST_CASE("remote_verdicts: the oldest of 1,024 verdicts makes room for a new one") {
  remote_verdicts all;
  const auto name = [](std::size_t i) { return "http://h:" + std::to_string(i); };
  const auto at = [](std::size_t i) { return time_point{} + std::chrono::seconds(i); };
  for (std::size_t i = 0; i < remote_verdicts::most; ++i) all.note(name(i), name(i) + "/", remote_way::modern, at(i));
  all.note(name(0), name(0) + "/", remote_way::legacy, at(5'000));
  all.note("http://new", "http://new/", remote_way::legacy, at(6'000));
  CHECK(all.of_address("http://new/", at(6'000)) == remote_way::legacy);
  CHECK(all.of_address(name(0) + "/", at(6'000)) == remote_way::legacy);
  CHECK(all.of_address(name(1) + "/", at(6'000)) == remote_way::unknown);
  CHECK(all.of_origin(name(1), at(6'000)) == remote_way::unknown);
  CHECK(all.of_address(name(2) + "/", at(6'000)) == remote_way::modern);
}

TEST_CASE("remote: an address that speaks an old revision is not asked for the new one by further entries for a day") {
  const remote_server server(remote_server::era::legacy);
  remote_rig first(server.url("/mcp?key=1"));
  first.start();
  REQUIRE(first.ready());
  CHECK(server.count("server/discover") == 1);
  further_rig second(first, server.url("/mcp?key=1"));
  second.start();
  REQUIRE(second.ready());
  CHECK(second.called().answered());
  CHECK(server.count("server/discover") == 1);
  std::size_t asked = 1;
  for (const std::string_view other : {"/mcp?key=2", "/mcp", "/other"}) {
    further_rig neighbour(first, server.url(other));
    neighbour.start();
    REQUIRE(neighbour.ready());
    CHECK(server.count("server/discover") == ++asked);
  }
  further_rig later(first, server.url("/mcp?key=1"));
  later.time.advance(remote_verdicts::good_for);
  later.start();
  REQUIRE(later.ready());
  CHECK(server.count("server/discover") == ++asked);
}

TEST_CASE("remote: a revision that an entry insists on says nothing about the address to others") {
  const remote_server server(remote_server::era::legacy);
  remote_rig first(server.url());
  auto pinned = first.server();
  pinned.protocol = "2025-11-25";
  first.start(std::move(pinned));
  REQUIRE(first.ready());
  CHECK(server.count("server/discover") == 0);
  further_rig second(first, server.url());
  second.start();
  REQUIRE(second.ready());
  CHECK(server.count("server/discover") == 1);
}

TEST_CASE("remote: an old server that was replaced by one of the new revision alone is found again") {
  for (const int status : {404, 500, 0, 200}) {
    CAPTURE(status);
    std::atomic<bool> replaced = false;
    const remote_server modern(
        remote_server::era::modern, [&](http_peer& peer, const auto& q, const std::string& method) {
          if (!replaced) {
            if (method == "server/discover") return send_plain(peer, 404, "text/plain", "no");
            if (method == "initialize")
              return remote_server::send_json(
                  peer, 200,
                  remote_server::answer(
                      q, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s"}})"));
            return false;
          }
          if (method != "initialize") return false;
          if (status == 0) return peer.close(), true;
          if (status == 200)
            return remote_server::send_json(
                peer, 200,
                remote_server::answer(
                    q, R"({"protocolVersion":"2026-07-28","capabilities":{"tools":{}},"serverInfo":{"name":"s"}})"));
          return send_plain(peer, status, "text/plain", "no");
        });
    remote_rig rig(modern.url());
    rig.start();
    REQUIRE(rig.ready());
    CHECK(rig.status().revision == "2025-11-25");
    replaced = true;
    REQUIRE(rig.supervisor->restart("far"));
    for (int i = 0; i < 100 && rig.status().revision != "2026-07-28"; ++i) rig.advance(200);
    REQUIRE(rig.ready());
    CHECK(rig.status().revision == "2026-07-28");
    further_rig second(rig, modern.url());
    second.start();
    REQUIRE(second.ready());
    CHECK(second.status().revision == "2026-07-28");
  }
}

TEST_CASE("remote: a probe that fails on the way is no verdict on the address") {
  for (const int status : {500, 502, 0}) {
    CAPTURE(status);
    std::atomic<bool> disturbed = true;
    const remote_server server(
        remote_server::era::modern, [&](http_peer& peer, const auto& q, const std::string& method) {
          if (method == "server/discover" && disturbed) {
            if (status == 0) return peer.close(), true;
            return send_plain(peer, status, "text/plain", "gateway");
          }
          if (method != "initialize") return false;
          return remote_server::send_json(
              peer, 200,
              remote_server::answer(
                  q, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s"}})"));
        });
    remote_rig rig(server.url());
    rig.start();
    REQUIRE(rig.ready());
    CHECK(rig.status().revision == "2025-11-25");
    CHECK(rig.verdicts->of_address(origin_of(server) + "/mcp", rig.time.now()) == remote_way::unknown);
    disturbed = false;
    further_rig second(rig, server.url());
    second.start();
    REQUIRE(second.ready());
    CHECK(second.status().revision == "2026-07-28");
  }
}

TEST_CASE("remote: a neighbour of a server of HTTP+SSE is tried as one first") {
  event_stream_server old("/other");
  remote_rig second(old.server.url("/other"));
  second.verdicts->note(origin_of(old.server), origin_of(old.server) + "/sse", remote_way::event_stream,
                        second.time.now());
  second.start();
  REQUIRE(second.ready());
  CHECK(second.status().remote->transport == "sse");
  CHECK(second.called().answered());
  CHECK(asked(old.server, "/other", "POST") == 0);
  old.stop = true;
}

TEST_CASE("remote: a neighbour of a server of HTTP+SSE that is none is lost in neither era, and remembered as it is") {
  for (const auto era : {remote_server::era::legacy, remote_server::era::modern}) {
    CAPTURE(static_cast<int>(era));
    event_stream_server mixed("/sse", era);
    remote_rig first(mixed.server.url("/sse"));
    first.start();
    REQUIRE(first.ready());
    further_rig second(first, mixed.server.url("/mcp"));
    second.start();
    REQUIRE(second.ready());
    CHECK(second.status().remote->transport == "streamable-http");
    CHECK(second.status().revision == (era == remote_server::era::modern ? "2026-07-28" : "2025-11-25"));
    CHECK(second.called().answered());
    CHECK(asked(mixed.server, "/mcp", "server/discover") == 1);
    const auto streams = asked(mixed.server, "/mcp", "GET");
    CHECK(streams >= 1);
    further_rig third(second, mixed.server.url("/mcp"));
    third.start();
    REQUIRE(third.ready());
    if (era == remote_server::era::modern) CHECK(asked(mixed.server, "/mcp", "GET") == streams);
    mixed.stop = true;
  }
}

TEST_CASE("remote: a wrong guess from a neighbour is given up whatever the server does with a GET") {
  for (const std::string does : {"silent", "drops", "redirects", "login", "fails", "events"}) {
    CAPTURE(does);
    const remote_server server(remote_server::era::modern, [&](http_peer& peer, const auto& q, const std::string&) {
      if (q.target != "/mcp") return send_plain(peer, 404, "text/plain", "no");
      if (q.method != "GET") return false;
      if (does == "silent" || does == "events") remote_server::begin_events(peer);
      if (does == "events") peer.send_chunk("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a/b\"}\n\n");
      if (does == "silent" || does == "events")
        while (!peer.wait_closed(2)) continue;
      if (does == "drops") peer.close();
      if (does == "redirects") return peer.send("HTTP/1.1 302 X\r\nLocation: /about\r\nContent-Length: 0\r\n\r\n");
      if (does == "login") return send_plain(peer, 401, "text/plain", "who?");
      if (does == "fails") return send_plain(peer, 500, "text/plain", "oh");
      return true;
    });
    remote_rig rig(server.url());
    const std::string origin = origin_of(server);
    rig.verdicts->note(origin, origin + "/sse", remote_way::event_stream, rig.time.now());
    rig.start();
    for (int i = 0; i < 60 && rig.status().state != mcp::clients::server_state::ready; ++i) rig.advance(50);
    REQUIRE(rig.ready());
    CHECK(rig.called().answered());
    CHECK(server.count("GET") == 1);
    CHECK(rig.verdicts->of_address(origin + "/mcp", rig.time.now()) == remote_way::modern);
    CHECK(rig.verdicts->of_origin(origin, rig.time.now()) == remote_way::modern);
  }
}

TEST_CASE("remote: a wrong hint is taken back by an entry that insists on a revision, and by a start that it used up") {
  for (const bool silent : {false, true}) {
    CAPTURE(silent);
    const remote_server server(remote_server::era::legacy, [&](http_peer& peer, const auto& q, const std::string&) {
      if (q.method != "GET" || q.target != "/mcp") return false;
      if (!silent) return send_plain(peer, 405, "text/plain", "no");
      remote_server::begin_events(peer);
      while (!peer.wait_closed(2)) continue;
      return true;
    });
    remote_rig rig(server.url());
    const std::string origin = origin_of(server);
    rig.verdicts->note(origin, origin + "/sse", remote_way::event_stream, rig.time.now());
    auto entry = rig.server();
    entry.protocol = "2025-11-25";
    if (silent) entry.start_timeout = std::chrono::milliseconds(1'000);
    rig.start(std::move(entry));
    for (int i = 0; i < 100 && rig.status().state != mcp::clients::server_state::ready; ++i) rig.advance(100);
    REQUIRE(rig.ready());
    CHECK(rig.verdicts->of_origin(origin, rig.time.now()) == remote_way::unknown);
  }
}

TEST_CASE("remote: an entry that wrongly says HTTP+SSE reaches a server of the new revision alone") {
  const remote_server server(remote_server::era::modern);
  remote_rig rig(server.url(), [](auto& spec) { spec.events_first = true; });
  rig.start();
  REQUIRE(rig.ready());
  CHECK(rig.status().revision == "2026-07-28");
  CHECK(rig.called().answered());
}
