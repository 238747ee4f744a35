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
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
  std::unique_ptr<http::clients::exchange> running;
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

TEST_CASE("client: a head that is written into the memory of an earlier one has nothing of that") {
  std::mutex guard;
  std::vector<http_peer::request> seen;
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      const std::lock_guard lock(guard);
      seen.push_back(q);
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  http_loop loop;
  const auto block = std::make_shared<http::clients::header_block>(std::vector<http::header>{{"X-All", "1"}});
  for (const std::string& value : {std::string(600, 'v'), std::string("short"), std::string()}) {
    http::clients::request r;
    r.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/mcp";
    r.common = block;
    if (!value.empty()) r.headers = {{"X-Own", value}};
    r.body.append_copy(value);
    recorder got;
    const auto exchange = loop.client->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.over(); }));
    CHECK(got.status == 200);
    const std::lock_guard lock(guard);
    CHECK(seen.back().method == "POST");
    CHECK(seen.back().target == "/mcp");
    CHECK(seen.back().header("x-all") == "1");
    CHECK(seen.back().header("x-own") == value);
    CHECK(seen.back().body == value);
    CHECK(seen.back().headers.size() == (value.empty() ? 6 : 7));
  }
  CHECK(server.connections() == 1);
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
  CHECK(second.failure->stage == http::clients::stage::first_byte);
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

TEST_CASE("client: requests of different kinds that follow each other have each their own head and body") {
  std::vector<std::string> asked;
  std::mutex guard;
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      {
        const std::lock_guard lock(guard);
        std::string seen = q.method + " " + q.target + " " + q.body;
        for (const std::string_view name : {"x-common", "x-own", "host", "accept-encoding", "content-length"})
          seen += "|" + std::string(q.header(name));
        asked.push_back(std::move(seen));
      }
      send_plain(peer, 200, "text/plain", "one");
    }
  });
  const std::string host = "127.0.0.1:" + std::to_string(server.port()), url = "http://" + host;
  const auto common = [](std::string value) {
    return std::make_shared<const http::clients::header_block>(
        std::vector<http::header>{{"X-Common", std::move(value)}});
  };
  const auto a = common("a"), b = common("b");
  struct row {
    std::string method, path, body;
    std::shared_ptr<const http::clients::header_block> block;
    std::vector<http::header> own;
    bool gzip;
    std::string seen;
  };
  const std::string large(5'000, 'l');
  const std::vector<row> rows{
      {"POST", "/x", "1", a, {{"X-Own", "1"}}, false, "POST /x 1|a|1|" + host + "|identity|1"},
      {"POST", "/x", "22", a, {{"X-Own", "2"}}, false, "POST /x 22|a|2|" + host + "|identity|2"},
      {"POST", "/x", large, a, {}, false, "POST /x " + large + "|a||" + host + "|identity|5000"},
      {"POST", "/x", "1", b, {}, false, "POST /x 1|b||" + host + "|identity|1"},
      {"POST", "/y", "1", b, {}, false, "POST /y 1|b||" + host + "|identity|1"},
      {"POST", "/y", "1", b, {}, true, "POST /y 1|b||" + host + "|gzip|1"},
      {"GET", "/y", "", b, {}, true, "GET /y |b||" + host + "|gzip|"},
      {"POST", "/y", "1", b, {{"Host", "other"}, {"Accept-Encoding", "x"}}, true, "POST /y 1|b||other|x|1"},
      {"POST", "/y", "", b, {}, true, "POST /y |b||" + host + "|gzip|0"},
      {"POST", "/y", "1", nullptr, {{"X-Own", "3"}}, true, "POST /y 1||3|" + host + "|gzip|1"}};
  http_loop loop;
  for (int round = 0; round < 2; ++round)
    for (const auto& r : rows) {
      http::clients::request q;
      q.method = r.method;
      q.url = url + r.path;
      if (!r.body.empty()) q.body.append_copy(r.body);
      q.common = r.block;
      q.headers = r.own;
      q.accept_gzip = r.gzip;
      recorder got;
      const auto exchange = loop.client->start(std::move(q), got);
      REQUIRE(loop.until([&] { return got.over(); }));
      CHECK_FALSE(got.failure);
      const std::lock_guard lock(guard);
      CHECK(asked.back() == r.seen);
    }
  CHECK(server.connections() == 1);
}

TEST_CASE("client: a request that is sent again on a fresh connection has its body once, whatever its size") {
  for (const std::size_t size : {1U, 4'096U, 4'097U, 100'000U}) {
    CAPTURE(size);
    std::promise<std::string> arrived;
    std::atomic<int> answers = 0;
    const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
      http_peer::request q;
      while (peer.read(q)) {
        if (answers++ == 1) return peer.close();
        if (answers == 3) arrived.set_value(q.body);
        send_plain(peer, 200, "text/plain", "one");
      }
    });
    http_loop loop;
    const auto url = "http://127.0.0.1:" + std::to_string(server.port());
    recorder first, second;
    const auto one = loop.client->start(ask(url, "x"), first);
    REQUIRE(loop.until([&] { return first.over(); }));
    auto again = ask(url, "x");
    again.body = {};
    again.body.append_copy(std::string(size, 'b'));
    const auto two = loop.client->start(std::move(again), second);
    REQUIRE(loop.until([&] { return second.over(); }));
    CHECK_FALSE(second.failure);
    CHECK(arrived.get_future().get() == std::string(size, 'b'));
  }
}
