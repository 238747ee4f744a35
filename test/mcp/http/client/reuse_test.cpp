// A connection that goes from one exchange to the next: what the end of an answer may begin, and when a request that
// found its connection closed may be sent again.
#include "test/fixtures/model/http_peer.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/mcp/http/client/tls_peer.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

// An answer of `size` bytes, head and all.
std::string answer_of(std::size_t size) {
  std::string head;
  std::size_t body = size;
  for (int i = 0; i < 3; ++i) {
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body) + "\r\n\r\n";
    body = size - head.size();
  }
  return head + std::string(size - head.size(), 'x');
}

// Begins the next exchange, up to `left` of them, from inside the end of the one before.
struct chain final : recorder {
  http_loop& loop;
  std::string url;
  int left;
  std::vector<std::size_t> bodies;
  std::unique_ptr<http::exchange> running;
  chain(http_loop& l, std::string u, int n) : loop(l), url(std::move(u)), left(n) { next(); }
  void next() { running = loop.client->start(ask(url, "x"), *this); }
  void on_end() override {
    bodies.push_back(body.size());
    body.clear();
    if (--left > 0) return next();
    ++ends;
  }
};

}  // namespace

TEST_CASE("client: an answer of any size may begin the next exchange on its own connection") {
  // The first read takes 4 KiB, the next ones 16, 32 and 64: an answer that ends where a read was filled is the case.
  std::vector<std::size_t> sizes;
  for (const std::size_t edge :
       {4096U, 8192U, 16'384U, 20'480U, 32'768U, 36'864U, 53'248U, 65'536U, 118'784U, 131'072U})
    for (const int off : {-1, 0, 1}) sizes.push_back(edge + static_cast<std::size_t>(off));
  for (const auto size : sizes) {
    CAPTURE(size);
    const std::string whole = answer_of(size);
    const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
      http_peer::request q;
      while (peer.read(q)) peer.send(whole);
    });
    http_loop loop;
    chain c(loop, "http://127.0.0.1:" + std::to_string(server.port()), 4);
    REQUIRE(loop.until([&] { return c.over(); }));
    CHECK_FALSE(c.failure);
    REQUIRE(c.bodies.size() == 4);
    for (const auto got : c.bodies) CHECK(got == whole.size() - whole.find("\r\n\r\n") - 4);
    CHECK(server.connections() == 1);
  }
}

TEST_CASE("G31: a request that its pooled connection was busy with for long is not sent again by itself") {
  std::promise<void> asked, may_close;
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    if (!peer.read(q)) return;
    send_plain(peer, 200, "text/plain", "one");
    if (!peer.read(q)) return;
    asked.set_value();
    may_close.get_future().wait();
    peer.close();
  });
  const auto url = "http://127.0.0.1:" + std::to_string(server.port());
  manual_time time;
  http_loop loop(&time);
  recorder first, second;
  const auto one = loop.client->start(ask(url, "x"), first);
  REQUIRE(loop.until([&] { return first.over(); }));
  const auto two = loop.client->start(ask(url, "x"), second);
  auto arrived = asked.get_future();
  REQUIRE(loop.until(
      [&] { return two->sent() && arrived.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  time.advance(milliseconds(2000));
  may_close.set_value();
  REQUIRE(loop.until([&] { return second.over(); }));
  REQUIRE(second.failure);
  CHECK(second.failure->stage == http::stage::first_byte);
  CHECK(server.connections() == 1);
}

TEST_CASE("G3: a request that must not arrive twice is not sent again when its pooled connection was closed") {
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    if (!peer.read(q)) return;
    send_plain(peer, 200, "text/plain", "one");
    if (peer.read(q)) peer.close();
  });
  for (const bool repeat : {true, false}) {
    http_loop loop;
    auto r = ask("http://127.0.0.1:" + std::to_string(server.port()), "x");
    r.repeat_stale = repeat;
    recorder first, second;
    const auto one = loop.client->start(r, first);
    REQUIRE(loop.until([&] { return first.over(); }));
    const auto two = loop.client->start(r, second);
    REQUIRE(loop.until([&] { return second.over(); }));
    CHECK(second.failure.has_value() == !repeat);
    CHECK(loop.client->counts().connections == (repeat ? 2 : 1));
  }
}

TEST_CASE("client: a connection leaves the pool before the time that its peer names for it") {
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) send_plain(peer, 200, "text/plain", "one", "Keep-Alive: max=9, timeout=5\r\n");
  });
  manual_time time;
  http_loop loop(&time);
  const auto once = [&] {
    recorder got;
    const auto exchange = loop.client->start(ask("http://127.0.0.1:" + std::to_string(server.port()), "x"), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK(got.body == "one");
  };
  once();
  time.advance(milliseconds(3'900));
  once();
  CHECK(loop.client->counts().connections == 1);
  time.advance(milliseconds(4'100));
  once();
  CHECK(loop.client->counts().connections == 2);
}

TEST_CASE("client: a packed answer is refused where packed ones are not wanted") {
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) send_plain(peer, 200, "text/plain", "xyz", "Content-Encoding: gzip\r\n");
  });
  http_loop loop;
  auto r = ask("http://127.0.0.1:" + std::to_string(server.port()), "x");
  r.refuse_packed = true;
  recorder got;
  const auto exchange = loop.client->start(r, got);
  REQUIRE(loop.until([&] { return got.over(); }));
  REQUIRE(got.failure);
  CHECK(got.failure->why.message.find("in a compression that was not asked for (\"gzip\")") != std::string::npos);
}

TEST_CASE("client: a replacement of a stale connection has the whole time to connect") {
  std::promise<void> asked, may_close;
  const http_listener server(0, [&](http_peer& peer, std::uint64_t number) {
    http_peer::request q;
    if (!peer.read(q)) return;
    send_plain(peer, 200, "text/plain", "one");
    if (number > 1 || !peer.read(q)) return;
    asked.set_value();
    may_close.get_future().wait();
    peer.close();
  });
  manual_time time;
  http_loop loop(&time);
  auto r = ask("http://127.0.0.1:" + std::to_string(server.port()), "x");
  r.limits.connect = milliseconds(100);
  recorder first, second;
  const auto one = loop.client->start(r, first);
  REQUIRE(loop.until([&] { return first.over(); }));
  const auto two = loop.client->start(r, second);
  auto arrived = asked.get_future();
  REQUIRE(loop.until(
      [&] { return two->sent() && arrived.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  time.advance(milliseconds(400));
  may_close.set_value();
  REQUIRE(loop.until([&] { return server.connections() == 2 || second.over(); }));
  time.advance(milliseconds(50));
  REQUIRE(loop.until([&] { return second.over(); }));
  CHECK_FALSE(second.failure);
  CHECK(second.body == "one");
}

TEST_CASE("G33: a request that is sent again over TLS carries its body once") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  tls_server server(who);
  server.drops_second_request = true;
  const pem_file ca(who.pem());
  http_loop loop;
  for (int i = 0; i < 2; ++i) {
    auto r = ask("https://localhost:" + std::to_string(server.port()), "x");
    r.trust.ca_file = ca.path;
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK_FALSE(got.failure);
    CHECK(got.body == "ok");
  }
  const auto requests = server.requests();
  REQUIRE(requests.size() == 3);
  CHECK(requests[0] == requests[2]);
  CHECK(requests[1] == requests[2]);
}
