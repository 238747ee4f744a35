// The client against the scripted model: bodies, pooling, broken peers, leaving early.
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/no_threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

TEST_CASE("client: a chunked answer arrives whole and its connection is used again") {
  const scripted_model server({});
  http_loop loop;
  for (int i = 0; i < 5; ++i) {
    recorder got;
    const auto exchange = loop.client->start(ask(server.url(), "text"), got);
    CHECK(got.ends == 0);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK_FALSE(got.failure);
    CHECK(got.status == 200);
    CHECK(http::find_header(got.headers, "CONTENT-type") == "text/event-stream");
    CHECK(got.body.ends_with("data: [DONE]\n\n"));
  }
  CHECK(server.connections() == 1);
  CHECK(loop.client->counts().connections == 1);
  CHECK(loop.client->counts().reused == 4);
  CHECK(loop.client->counts().exchanges == 5);
}

TEST_CASE("client: an exchange begun inside on_end gets the connection that has just become free") {
  const scripted_model server({});
  http_loop loop;
  struct chain final : recorder {
    http_loop& loop;
    std::string url;
    recorder second;
    std::unique_ptr<http::clients::exchange> next;
    chain(http_loop& l, std::string u) : loop(l), url(std::move(u)) {}
    void on_end() override {
      ++ends;
      next = loop.client->start(ask(url, "text"), second);
    }
  } first(loop, server.url());
  const auto exchange = loop.client->start(ask(server.url(), "text"), first);
  REQUIRE(loop.until([&] { return first.second.over(); }));
  CHECK(server.connections() == 1);
}

TEST_CASE("client: parallel exchanges use connections of their own, at most the allowed number waits in the pool") {
  const scripted_model server({});
  http_loop loop(nullptr, {.max_idle_per_origin = 2, .keep_idle = milliseconds(60'000), .proxies = {}});
  std::vector<recorder> got(5);
  std::vector<std::unique_ptr<http::clients::exchange>> running;
  for (auto& g : got) running.push_back(loop.client->start(ask(server.url(), "text"), g));
  REQUIRE(loop.until([&] { return std::all_of(got.begin(), got.end(), [](const auto& g) { return g.over(); }); }));
  CHECK(server.connections() == 5);
  REQUIRE(server.wait_for("closed", 3));
}

TEST_CASE("client: a pooled connection that the peer has closed is replaced silently") {
  const auto serve = [](http_peer& peer, std::uint64_t number) {
    http_peer::request q;
    // The first connection answers once and closes without a word at the second request.
    if (!peer.read(q)) return;
    send_plain(peer, 200, "text/plain", "one");
    if (number > 1 || !peer.read(q)) return;
    peer.close();
  };
  const http_listener server(0, serve);
  const auto url = "http://127.0.0.1:" + std::to_string(server.port());
  http_loop loop;
  for (int i = 0; i < 2; ++i) {
    recorder got;
    const auto exchange = loop.client->start(ask(url, "x"), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK_FALSE(got.failure);
    CHECK(got.body == "one");
  }
  CHECK(server.connections() == 2);
  CHECK(loop.client->counts().reused == 1);
}

TEST_CASE("client: where no thread can be started a name cannot be looked up, and the request says so") {
  http_loop loop;
  const no_threads none;
  for (const std::string url : {"http://name.invalid/", "https://127.0.0.1:1/"}) {
    recorder got;
    http::clients::request r;
    r.url = url;
    const auto exchange = loop.client->start(std::move(r), got);
    CHECK_FALSE(got.over());
    REQUIRE(loop.until([&] { return got.over(); }));
    REQUIRE(got.failure);
  }
  recorder named;
  http::clients::request r;
  r.url = "http://name.invalid/";
  const auto exchange = loop.client->start(std::move(r), named);
  REQUIRE(loop.until([&] { return named.over(); }));
  CHECK(named.failure->why.message.find("no thread could be started for the lane \"name look-up\"") !=
        std::string::npos);
}

TEST_CASE("client: leaving early closes the connection and silences the events") {
  const scripted_model server({});
  http_loop loop;
  recorder got;
  auto exchange = loop.client->start(ask(server.url(), "endless"), got);
  REQUIRE(loop.until([&] { return got.pieces > 3; }));
  exchange.reset();
  const auto pieces = got.pieces;
  REQUIRE(server.wait_for("closed", 1));
  loop.context.poll();
  CHECK(got.pieces == pieces);
  CHECK(got.ends == 0);
  // Also from inside an event.
  auto second = loop.client->start(ask(server.url(), "endless"), got);
  got.on_piece = [&] { second.reset(); };
  REQUIRE(loop.until([&] { return second == nullptr; }));
  REQUIRE(server.wait_for("closed", 2));
}

TEST_CASE("client: what breaks is told once, with the stage") {
  const scripted_model server({});
  http_loop loop;
  struct row {
    std::string model;
    http::clients::stage stage;
    errc code;
  };
  for (const auto& r : std::vector<row>{{"chunk-truncate", http::clients::stage::body, errc::io},
                                        {"reset", http::clients::stage::body, errc::io},
                                        {"wrong-length", http::clients::stage::body, errc::io},
                                        {"garbage-http", http::clients::stage::body, errc::protocol},
                                        {"gzip", http::clients::stage::body, errc::protocol}}) {
    CAPTURE(r.model);
    recorder got;
    const auto exchange = loop.client->start(ask(server.url(), r.model), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK(got.ends == 1);
    REQUIRE(got.failure);
    CHECK(got.failure->stage == r.stage);
    CHECK(got.failure->why.code == r.code);
    CHECK(got.failure->why.message.find("127.0.0.1") != std::string::npos);
  }
}

TEST_CASE("client: headers in common are sent with each request, and one that cannot be sent refuses it") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      std::string all;
      for (const auto& [name, value] : q.headers) all += name + "=" + value + ";";
      send_plain(peer, 200, "text/plain", all);
    }
  });
  http_loop loop;
  const auto told = [&](http::header one) {
    auto r = ask("http://127.0.0.1:" + std::to_string(server.port()), "x");
    r.common = std::make_shared<const http::clients::header_block>(
        std::vector<http::header>{{"X-Common", "1"}, std::move(one)});
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    return got.failure ? got.failure->why.message : got.body;
  };
  for (int i = 0; i < 2; ++i) {
    const std::string all = told({"User-Agent", "other"});
    CHECK(all.contains("X-Common=1;"));
    CHECK(all.contains("User-Agent=other;"));
    CHECK(all.contains("Content-Type=application/json;"));
    CHECK_FALSE(all.contains("User-Agent=mcpbx"));
  }
  CHECK(told({"Content-Length", "7"}).contains("\"Content-Length\" for 127.0.0.1"));
}

TEST_CASE("client: nobody listening, an unknown name, an unusable address and a bad header fail after start") {
  http_loop loop;
  struct row {
    std::string url;
    http::clients::stage stage;
  };
  for (const auto& r : std::vector<row>{{"http://127.0.0.1:1", http::clients::stage::connect},
                                        {"http://localhost:1", http::clients::stage::connect},
                                        {"http://no-such-host.invalid", http::clients::stage::resolve},
                                        {"ftp://x", http::clients::stage::resolve}}) {
    CAPTURE(r.url);
    recorder got;
    const auto exchange = loop.client->start(ask(r.url, "x"), got);
    CHECK(got.ends == 0);
    REQUIRE(loop.until([&] { return got.over(); }));
    REQUIRE(got.failure);
    CHECK(got.failure->stage == r.stage);
  }
  // A line break could begin another header, and what frames a message another request.
  for (const auto& bad : std::vector<http::header>{{"X-Bad", "a\r\nX-Injected: b"},
                                                   {"X Bad", "a"},
                                                   {"Content-Length", "1"},
                                                   {"transfer-encoding", "chunked"},
                                                   {"Connection", "close"}}) {
    CAPTURE(bad.name);
    recorder got;
    auto request = ask("http://127.0.0.1:1", "x");
    request.headers.push_back(bad);
    const auto exchange = loop.client->start(std::move(request), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK(got.failure->why.code == errc::invalid_argument);
  }
}

TEST_CASE("client: further headers are sent, Host and User-Agent among them in place of ours") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      std::string all;
      for (const auto& [name, value] : q.headers)
        if (name != "Content-Length" && name != "Connection" && name != "Accept-Encoding" && name != "Content-Type")
          all += name + "=" + value + ";";
      send_plain(peer, 200, "text/plain", all);
    }
  });
  const auto url = "http://127.0.0.1:" + std::to_string(server.port());
  http_loop loop;
  const auto told = [&](std::vector<http::header> more) {
    recorder got;
    auto request = ask(url, "x");
    request.headers.insert(request.headers.end(), more.begin(), more.end());
    const auto exchange = loop.client->start(std::move(request), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    return got.body;
  };
  CHECK(told({}) == "Host=" + url.substr(7) + ";User-Agent=mcpbx/" MCPBX_VERSION ";");
  CHECK(told({{"X-Title", "a b"}, {"user-agent", "mine"}, {"host", "inner"}}) ==
        "X-Title=a b;user-agent=mine;host=inner;");
}

TEST_CASE("G33: a redirect is not followed and no header goes elsewhere") {
  const scripted_model server({});
  http_loop loop;
  recorder got;
  auto request = ask(server.url(), "redirect");
  request.headers.push_back({"Authorization", "Bearer k"});
  const auto exchange = loop.client->start(std::move(request), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  CHECK(got.status == 302);
  CHECK(server.bodies().size() == 1);
  CHECK(loop.client->counts().connections == 1);
}

TEST_CASE("client: an interim answer is passed over and an answer may end with the connection") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    if (!peer.read(q)) return;
    peer.send(
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end");
    peer.close();
  });
  http_loop loop;
  recorder got;
  const auto exchange = loop.client->start(ask("http://127.0.0.1:" + std::to_string(server.port()), "x"), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  CHECK_FALSE(got.failure);
  CHECK(got.heads == 1);
  CHECK(got.body == "until the end");
}

TEST_CASE("client: large bodies go out in pieces and come back whole") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) send_plain(peer, 200, "application/json", q.body);
  });
  http_loop loop;
  http::clients::request r;
  r.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/echo";
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    const std::string piece(10'000, static_cast<char>('a' + i % 26));
    r.body.append_copy(piece);
    expected += piece;
  }
  recorder got;
  const auto exchange = loop.client->start(std::move(r), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  CHECK(got.body == expected);
}

}  // namespace
