// gzip bodies: the core at every split, and through the client.
#include "mcp/http/client/gzip.hpp"

#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/mcp/http/packed.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using mcpbx::http::clients::gunzip;

struct unpacked {
  gunzip::verdict verdict = gunzip::verdict::more;
  std::string text;
  bool complete = false;
};

unpacked unpack(std::string_view bytes, std::size_t step, std::size_t limit = 1 << 20) {
  unpacked u;
  gunzip g(limit);
  for (std::size_t at = 0; at < bytes.size() && u.verdict == gunzip::verdict::more; at += step)
    u.verdict = g.put(bytes.substr(at, step), [&](std::string_view piece) {
      CHECK(piece.size() <= 32 * 1024);
      u.text += piece;
      return true;
    });
  u.complete = g.complete();
  return u;
}

TEST_CASE("gunzip: every split gives the same text, of one member or several") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "data: " + std::to_string(i * i) + "\n\n";
  const auto one = packed(text), two = packed(text) + packed("") + packed("more");
  for (std::size_t step = 1; step <= two.size(); step += step < 40 ? 1 : 37) {
    auto u = unpack(one, step);
    CHECK(u.verdict == gunzip::verdict::more);
    CHECK(u.complete);
    CHECK(u.text == text);
    u = unpack(two, step);
    CHECK(u.complete);
    CHECK(u.text == text + "more");
  }
}

TEST_CASE("gunzip: what the sender flushed is told at once, so that a stream stays one") {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  gunzip g(1000);
  for (int i = 0; i < 5; ++i) {
    const auto event = "data: " + std::to_string(i) + "\n\n";
    std::string out(200, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(event.data()));
    z.avail_in = static_cast<uInt>(event.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&z, Z_SYNC_FLUSH) == Z_OK);
    out.resize(out.size() - z.avail_out);
    std::string told;
    CHECK(g.put(out, [&](std::string_view piece) {
      told += piece;
      return true;
    }) == gunzip::verdict::more);
    CHECK(told == event);
  }
  CHECK_FALSE(g.complete());
  deflateEnd(&z);
}

TEST_CASE("gunzip: what is cut is not complete, what is damaged or followed by anything else is wrong") {
  const auto good = packed("hello world");
  for (std::size_t n = 1; n < good.size(); ++n) {
    const auto u = unpack(std::string_view(good).substr(0, n), 3);
    CHECK(u.verdict == gunzip::verdict::more);
    CHECK_FALSE(u.complete);
  }
  CHECK(unpack("", 1).complete);
  CHECK(unpack("hello world", 4).verdict == gunzip::verdict::wrong);
  auto damaged = good;
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  CHECK(unpack(damaged, 5).verdict == gunzip::verdict::wrong);
  CHECK(unpack(good + "tail", 100).verdict == gunzip::verdict::wrong);
}

TEST_CASE("G33: a gzip bomb ends at the limit, piece by piece") {
  const auto bomb = packed(std::string(64u << 20, 'a'));
  CHECK(bomb.size() < 100'000);
  const auto u = unpack(bomb, 64 * 1024, 1 << 20);
  CHECK(u.verdict == gunzip::verdict::too_large);
  CHECK(u.text.size() <= (1u << 20));
}

// Answers every request with `body`, as if it were packed.
http_listener gzip_server(std::string body, std::string coding = "gzip") {
  return http_listener(0, [body = std::move(body), coding = std::move(coding)](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      if (q.header("accept-encoding") == "identity" && q.target == "/asked") {
        send_plain(peer, 406, "text/plain", "");
        continue;
      }
      send_plain(peer, 200, "text/plain", body, "Content-Encoding: " + coding + "\r\n");
    }
  });
}

recorder get(http_loop& loop, const http_listener& server, bool accept, std::size_t limit = 1 << 20) {
  http::clients::request r;
  r.method = "GET";
  r.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/asked";
  if (!accept) r.url += "-not";
  r.accept_gzip = accept;
  r.limits.max_body = limit;
  recorder got;
  const auto exchange = loop.client->start(std::move(r), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  return got;
}

TEST_CASE("G33: packed answers are unpacked, asked for or not, and their connection is kept") {
  const auto server = gzip_server(packed("hello world"));
  http_loop loop;
  for (const bool accept : {true, false}) {
    const auto got = get(loop, server, accept);
    CHECK_FALSE(got.failure);
    CHECK(got.status == 200);
    CHECK(got.body == "hello world");
  }
  CHECK(loop.client->counts().connections == 1);
}

TEST_CASE("G33: the unpacked size of an answer is bounded, and nothing beyond is told") {
  const auto server = gzip_server(packed(std::string(8u << 20, 'a')));
  http_loop loop;
  const auto got = get(loop, server, true);
  REQUIRE(got.failure);
  CHECK(got.failure->why.code == errc::limit);
  CHECK(got.failure->why.message.find("1048576 bytes when unpacked") != std::string::npos);
  CHECK(got.body.size() <= (1u << 20));
}

TEST_CASE("G28: a packed answer that is cut or no gzip, and an unknown compression, are errors") {
  http_loop loop;
  const auto whole = packed("hello world");
  const auto cut = gzip_server(whole.substr(0, whole.size() - 3));
  auto got = get(loop, cut, true);
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::clients::stage::body);
  CHECK(got.failure->why.code == errc::io);
  got = get(loop, gzip_server("hello world"), true);
  REQUIRE(got.failure);
  CHECK(got.failure->why.code == errc::protocol);
  got = get(loop, gzip_server("hello world", "br"), true);
  REQUIRE(got.failure);
  CHECK(got.failure->why.message.find("\"br\"") != std::string::npos);
  got = get(loop, gzip_server("hello world", "Identity"), true);
  CHECK_FALSE(got.failure);
}

}  // namespace
