// Requests and answers in reads of every awkward size, through the sockets of both ends: the HTTP client, whole, in
// chunks, packed, over TLS and through a tunnel, and the served connection. Meant for the asan preset.
#include "test/support/read_sizes.hpp"

#include "mcp/http/server/server_connection.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/mcp/http/client/tls_peer.hpp"
#include "test/mcp/http/packed.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace http_read_sizes {

using namespace mcpbx;
using namespace mcpbx::test;

std::string body_of(std::size_t size) {
  std::string b;
  for (int i = 0; b.size() < size; ++i) b += "data: {\"n\":" + std::to_string(i) + ",\"t\":\"\xC3\xA4\"}\r\n\n";
  b.resize(size);
  return b;
}

std::string chunked(const std::string& text, std::size_t step) {
  std::string out;
  char size[20];
  for (std::size_t at = 0; at < text.size(); at += step) {
    const auto part = text.substr(at, step);
    std::snprintf(size, sizeof size, "%zx", part.size());
    out += std::string(size) + (at % 2 == 0 ? "\r\n" : ";x=y\r\n") + part + "\r\n";
  }
  return out + "0\r\nTrailer: x\r\n\r\n";
}

// Answers to /0, /1, …: every way to send each body.
std::vector<std::pair<std::string, std::string>> answers() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::size_t size : {0U, 1U, 300U, 4096U, 20'300U, 70'001U}) {
    const auto body = body_of(size);
    const auto gz = packed(body);
    const std::string head = "HTTP/1.1 200 OK\r\n", chunks = "Transfer-Encoding: chunked\r\n";
    all.emplace_back(head + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body, body);
    all.emplace_back("HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + head + chunks + "\r\n" + chunked(body, 37), body);
    all.emplace_back(head + chunks + "\r\n" + chunked(body, 5000), body);
    all.emplace_back(head + chunks + "Content-Encoding: gzip\r\n\r\n" + chunked(gz, 11), body);
    all.emplace_back(head + "Content-Encoding: gzip\r\nContent-Length: " + std::to_string(gz.size()) + "\r\n\r\n" + gz,
                     body);
  }
  return all;
}

TEST_CASE("client: an answer is the same in reads of any size, one after the other on one connection") {
  const auto all = answers();
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q))
      if (!peer.send(all.at(static_cast<std::size_t>(std::stoi(q.target.substr(1)))).first)) return;
  });
  const auto url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  for (const std::size_t size : awkward_sizes) {
    CAPTURE(size);
    const read_sizes cut(size);
    http_loop loop;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (size < 3 && all[i].first.size() > 30'000) continue;  // some hundred thousand turns
      CAPTURE(i);
      http::clients::request r;
      r.method = "GET";
      r.url = url + std::to_string(i);
      recorder got;
      const auto exchange = loop.client->start(std::move(r), got);
      REQUIRE(loop.until([&] { return got.over(); }));
      CHECK_FALSE(got.failure);
      CHECK(got.body == all[i].second);
    }
    CHECK(loop.client->counts().connections == 1);
  }
}

TEST_CASE("client: an answer is the same in reads of any size over TLS") {
  const identity who("DNS:localhost,IP:127.0.0.1");
  const tls_server server(who);
  const pem_file ca(who.pem());
  for (const std::size_t size : awkward_sizes) {
    CAPTURE(size);
    const read_sizes cut(size);
    http_loop loop;
    for (int i = 0; i < 2; ++i) {
      const auto got = get(loop, "https://localhost:" + std::to_string(server.port()) + "/", ca.path);
      CHECK_FALSE(got.failure);
      CHECK(got.body == "ok");
    }
  }
}

// Answers each request with its target and what its body was.
struct echoing final : http::servers::server_events {
  std::optional<http::servers::server_connection> line;
  std::optional<http::servers::server_answer> on_head(const http::servers::request_head&) override {
    return std::nullopt;
  }
  void on_request(http::servers::request_head q, shared_bytes body) override {
    line->begin(200, {});
    line->send(q.target + " ");
    line->send(body.view());
    line->finish();
  }
  http::servers::server_answer on_fault(int status, std::string_view what) override {
    return {status, {}, std::string(what)};
  }
  void on_drained() override {}
  void on_left(const std::string&) override {}
};

std::string served(const std::string& said, std::size_t size) {
  const read_sizes cut(size);
  boost::asio::io_context context;
  manual_time time;
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  echoing e;
  e.line.emplace(context.get_executor(), time, ends[1],
                 http::servers::server_limits{.size = {.head = 20'000, .body = 1u << 20}}, e);
  e.line->start();
  std::string got, buffer(1 << 16, '\0');
  std::size_t sent = 0;
  for (bool more = true; more;) {
    more = false;
    if (const auto n = ::send(ends[0], said.data() + sent, said.size() - sent, MSG_NOSIGNAL); n > 0) {
      sent += static_cast<std::size_t>(n);
      more = true;
    }
    context.restart();
    more = context.poll() > 0 || more;
    for (ssize_t n = 0; (n = ::recv(ends[0], buffer.data(), buffer.size(), 0)) > 0; more = true)
      got.append(buffer, static_cast<std::size_t>(n));
  }
  e.line.reset();
  context.restart();
  context.poll();
  ::close(ends[0]);
  return got;
}

TEST_CASE("served connection: requests are the same in reads of any size, also those that are sent ahead") {
  const std::string host = " HTTP/1.1\r\nHost: x\r\n";
  const auto body = body_of(70'001), small = body_of(4096);
  const auto post = [&](const std::string& target, const std::string& b) {
    return "POST " + target + host + "Content-Length: " + std::to_string(b.size()) + "\r\n\r\n" + b;
  };
  const auto get = [&](const std::string& target) { return "GET " + target + host + "\r\n"; };
  const std::vector<std::string> conversations{
      get("/1") + get("/2") + "\r\n\r\n" + get("/3") + post("/4", "hello") + get("/5"),
      post("/1", body) + get("/2") + post("/3", small) + post("/4", body),
      "POST /1" + host + "Transfer-Encoding: chunked\r\n\r\n" + chunked(small, 37) + get("/2") + "POST /3" + host +
          "Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 5000) + get("/4"),
      "GET /1" + host + "Long: " + std::string(16'384, 'h') + "\r\n\r\n" + get("/2"),
      "GET /1" + host + "Long: " + std::string(21'000, 'h') + "\r\n\r\n" + get("/2"),
      get("/1") + "no request\r\n\r\n" + get("/2"),
      post("/1", std::string(100, 'x')).substr(0, 90)};
  for (std::size_t i = 0; i < conversations.size(); ++i) {
    CAPTURE(i);
    const auto whole = served(conversations[i], 1u << 20);
    CHECK(!whole.empty() == (i != 6));
    for (const std::size_t size : awkward_sizes) {
      CAPTURE(size);
      CHECK(served(conversations[i], size) == whole);
    }
    CHECK(served(conversations[i], 0) == whole);
  }
}

}  // namespace http_read_sizes
