// The four time limits on the turned clock, and the limit on bytes.
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using std::chrono::seconds;

struct turned {
  manual_time time;
  scripted_model server{{}};
  http_loop loop{&time};
  recorder got;
  std::unique_ptr<http::clients::exchange> exchange;

  void begin(const std::string& model, seconds connect = seconds(5)) {
    auto r = ask(server.url(), model);
    r.limits = {.connect = connect,
                .first_byte = seconds(300),
                .idle = seconds(60),
                .total = seconds(600),
                .max_body = 1 << 20};
    exchange = loop.client->start(std::move(r), got);
  }
  void failed_with(std::string_view limit) {
    REQUIRE(got.failure);
    CHECK(got.failure->why.code == errc::timed_out);
    CHECK(got.failure->why.message.find(limit) != std::string::npos);
    CHECK(server.wait_for("closed", 1));
  }
};

TEST_CASE("G30: no first byte within its limit ends the exchange") {
  turned t;
  t.begin("hang-before-head");
  REQUIRE(t.loop.until([&] { return t.server.bodies().size() == 1; }));
  t.time.advance(seconds(299));
  CHECK_FALSE(t.got.failure);
  t.time.advance(seconds(1));
  t.failed_with("300 s");
  CHECK(
      (t.got.failure->stage == http::clients::stage::first_byte || t.got.failure->stage == http::clients::stage::send));
}

TEST_CASE("G30: silence in the middle of an answer ends it after the idle limit") {
  for (const auto* model : {"hang-after-head", "hang-mid-stream", "hang-before-done"}) {
    turned t;
    t.begin(model);
    REQUIRE(t.loop.until(
        [&] { return t.got.heads == 1 && (t.got.pieces > 0 || std::string_view(model) == "hang-after-head"); }));
    // All that the server sends has been read when nothing more comes: it sends it at once.
    std::size_t before;
    do {
      before = t.got.body.size();
      t.loop.context.restart();
      t.loop.context.run_for(milliseconds(50));
    } while (t.got.body.size() != before);
    t.time.advance(seconds(59));
    CHECK_FALSE(t.got.failure);
    t.time.advance(seconds(1));
    t.failed_with("fell silent for 60 s");
    CHECK(t.got.failure->stage == http::clients::stage::body);
  }
}

TEST_CASE("G30: an idle limit below all others acts in its time") {
  turned t;
  t.begin("hang-after-head", seconds(100));
  REQUIRE(t.loop.until([&] { return t.got.heads == 1; }));
  t.time.advance(seconds(60));
  t.failed_with("fell silent for 60 s");
}

TEST_CASE("G30: dripping comments reset the idle limit and never the total") {
  turned t;
  t.begin("drip");
  for (int i = 0; i < 11 && !t.got.failure; ++i) {
    const auto pieces = t.got.pieces;
    REQUIRE(t.loop.until([&] { return t.got.pieces > pieces; }));
    t.time.advance(seconds(50));
  }
  CHECK_FALSE(t.got.failure);
  const auto pieces = t.got.pieces;
  REQUIRE(t.loop.until([&] { return t.got.pieces > pieces; }));
  t.time.advance(seconds(50));
  t.failed_with("600 s");
}

TEST_CASE("G30: an endless answer ends at the limit on bytes") {
  turned t;
  t.begin("endless");
  REQUIRE(t.loop.until([&] { return t.got.over(); }));
  REQUIRE(t.got.failure);
  CHECK(t.got.failure->why.code == errc::limit);
  CHECK(t.got.body.size() <= (1u << 20));
}

TEST_CASE("G30: slow but steady answers are not cut") {
  turned t;
  t.begin("slow-ok-1");
  REQUIRE(t.loop.until([&] {
    t.time.advance(milliseconds(10));
    return t.got.over();
  }));
  CHECK_FALSE(t.got.failure);
}

TEST_CASE("G30: connecting has its own limit") {
  // A listener who never accepts and whose queue is full: further attempts hang.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof a;
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0);
  REQUIRE(::listen(listener, 0) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&a), &size) == 0);
  std::vector<int> queue;
  for (int i = 0; i < 4; ++i) {
    queue.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(queue.back(), reinterpret_cast<sockaddr*>(&a), sizeof a);
  }
  turned t;
  auto r = ask("http://127.0.0.1:" + std::to_string(ntohs(a.sin_port)), "x");
  r.limits.connect = seconds(5);
  t.exchange = t.loop.client->start(std::move(r), t.got);
  t.loop.context.restart();
  t.loop.context.run_for(milliseconds(20));
  t.time.advance(seconds(5));
  REQUIRE(t.loop.until([&] { return t.got.over(); }));
  REQUIRE(t.got.failure);
  CHECK(t.got.failure->stage == http::clients::stage::connect);
  CHECK(t.got.failure->why.code == errc::timed_out);
  for (const int fd : queue) ::close(fd);
  ::close(listener);
}

TEST_CASE("client: a connection leaves the pool when it was idle for long") {
  turned t;
  t.begin("text");
  REQUIRE(t.loop.until([&] { return t.got.over(); }));
  t.time.advance(seconds(59));
  CHECK(t.server.log().size() == 1);
  t.time.advance(seconds(2));
  CHECK(t.server.wait_for("closed", 1));
}

}  // namespace
