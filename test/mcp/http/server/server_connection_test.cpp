// A served connection over a socket pair: the test is the caller. Time is turned by hand.
#include "mcp/http/server/server_connection.hpp"

#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::http::servers;
using namespace std::chrono_literals;

// Recorder of a connection's events, with the caller's end of the connection.
struct served : server_events {
  explicit served(server_limits l = {.size = {.head = 1000, .body = 100'000}}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    caller = ends[0];
    line.emplace(context.get_executor(), time, ends[1], l, *this);
    line->start();
  }
  ~served() override {
    line.reset();
    context.restart();
    context.poll();
    if (caller >= 0) ::close(caller);
  }

  std::optional<server_answer> on_head(const request_head& head) override {
    if (head.target == "/refused") return server_answer{401, {}, "no"};
    return std::nullopt;
  }
  void on_request(request_head head, shared_bytes body) override {
    requests.push_back(head.method + " " + head.target + " " + std::string(body.view().substr(0, 20)));
    if (answer_at_once) line->answer({200, {{"Content-Type", "text/plain"}}, "ok " + head.target + more});
  }
  server_answer on_fault(int status, std::string_view what) override { return {status, {}, std::string(what)}; }
  void on_drained() override { ++drained; }
  void on_left(const std::string& why) override { left = why; }

  void write(std::string_view bytes) {
    REQUIRE(::send(caller, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
    turn();
  }
  void turn() {
    context.restart();
    context.poll();
  }
  /// Returns the bytes that the caller received since the last call, and "<end>" if the connection was closed.
  std::string got() {
    turn();
    std::string out;
    char buffer[65536];
    for (;;) {
      const auto n = ::recv(caller, buffer, sizeof buffer, 0);
      if (n > 0) {
        out.append(buffer, static_cast<std::size_t>(n));
        turn();
        continue;
      }
      if (n == 0) out += "<end>";
      return out;
    }
  }

  boost::asio::io_context context;
  test::manual_time time;
  std::optional<server_connection> line;
  int caller = -1;
  bool answer_at_once = true;
  std::string more;  // of each answer
  int drained = 0;
  std::vector<std::string> requests;
  std::optional<std::string> left;
};

std::string get_request(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

TEST_CASE("served connection: requests come one after another on a kept connection, also those sent ahead") {
  served s;
  s.write(get_request("/a") + get_request("/b") + "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  const auto got = s.got();
  CHECK(s.requests == std::vector<std::string>{"GET /a ", "GET /b ", "POST /c hi"});
  CHECK(got.find("ok /a") < got.find("ok /b"));
  CHECK(got.find("ok /b") < got.find("ok /c"));
  CHECK(test::contains(got, "Content-Length: 5\r\n"));
  CHECK(test::contains(got, "Date: "));
  CHECK(!test::contains(got, "<end>"));
  s.write("\r\n\n" + get_request("/d", "Connection: close\r\n"));
  const auto last = s.got();
  CHECK(test::contains(last, "Connection: close\r\n"));
  CHECK(test::contains(last, "ok /d<end>"));
}

TEST_CASE("served connection: a streamed answer is one chunk for each part, and its end is told") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/a"));
  s.line->begin(200, {{"Content-Type", "text/event-stream"}});
  s.line->send("hello");
  CHECK(s.line->unsent() > 0);
  const auto begun = s.got();
  CHECK(test::contains(begun, "Transfer-Encoding: chunked\r\n"));
  CHECK(begun.ends_with("\r\n\r\n5\r\nhello\r\n"));
  CHECK(s.drained > 0);
  CHECK(s.line->unsent() == 0);
  s.line->send("");
  s.line->send(" world");
  s.line->finish();
  CHECK(s.got() == "6\r\n world\r\n0\r\n\r\n");
  s.answer_at_once = true;
  s.write(get_request("/b"));
  CHECK(test::contains(s.got(), "ok /b"));
}

TEST_CASE("served connection: a request sent beside a stream is answered behind its end, on the same connection") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/stream") + get_request("/b"));
  s.line->begin(200, {{"Content-Type", "text/event-stream"}});
  s.line->send("one");
  s.write(get_request("/c"));
  const auto begun = s.got();
  CHECK(begun.ends_with("3\r\none\r\n"));
  CHECK(s.requests == std::vector<std::string>{"GET /stream "});
  s.answer_at_once = true;
  s.line->finish();
  const auto rest = s.got();
  CHECK(rest.starts_with("0\r\n\r\nHTTP/1.1 200 OK\r\n"));
  CHECK(rest.find("ok /b") < rest.find("ok /c"));
  CHECK(s.requests == std::vector<std::string>{"GET /stream ", "GET /b ", "GET /c "});
  CHECK(!test::contains(begun + rest, "Connection: close"));
  CHECK(!s.left);
}

TEST_CASE("served connection: streams and whole answers follow each other on one connection") {
  served s;
  for (int i = 0; i < 5; ++i) {
    s.answer_at_once = false;
    s.write(get_request("/stream"));
    s.line->begin(200, {});
    s.line->send("x");
    s.line->finish();
    CHECK(s.got().ends_with("\r\n\r\n1\r\nx\r\n0\r\n\r\n"));
    s.answer_at_once = true;
    s.write(get_request("/whole"));
    CHECK(s.got().ends_with("ok /whole"));
  }
  CHECK(s.requests.size() == 10);
}

TEST_CASE(
    "served connection: neither a stream nor a request that waits behind it has a limit of time while it goes on") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/stream"));
  s.line->begin(200, {});
  s.line->send("x");
  s.write("GET /b HTTP/1.1\r\n");  // begun, and not complete before the stream ends
  s.got();
  for (int i = 0; i < 24; ++i) s.time.advance(60min);
  CHECK(s.got().empty());
  CHECK(!s.left);
  s.answer_at_once = true;
  s.line->finish();
  CHECK(s.got() == "0\r\n\r\n");
  s.time.advance(59s);
  s.write("Host: x\r\n\r\n");
  CHECK(s.got().ends_with("ok /b"));
}

TEST_CASE("served connection: G17: what is sent beside a stream waits bounded, and all of it is answered") {
  served s;
  const int small = 16 * 1024;
  REQUIRE(::setsockopt(s.caller, SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
  s.answer_at_once = false;
  s.write(get_request("/stream"));
  s.line->begin(200, {});
  s.line->send("x");
  const auto one = get_request("/b");
  std::size_t sent = 0, whole = 0;
  for (ssize_t n = 0; sent < (1u << 20); sent += static_cast<std::size_t>(n)) {
    const auto part = std::string_view(one).substr(sent % one.size());
    n = ::send(s.caller, part.data(), part.size(), MSG_NOSIGNAL);
    if (n < 0) {
      s.turn();
      n = ::send(s.caller, part.data(), part.size(), MSG_NOSIGNAL);
    }
    if (n < 0) break;
  }
  whole = sent / one.size();
  CHECK(whole > 100);
  CHECK(sent < (256u << 10));  // 64 KiB here, the rest in the system's own buffers
  s.answer_at_once = true;
  s.line->finish();
  s.got();
  CHECK(s.requests.size() == 1 + whole);
}

TEST_CASE("served connection: a caller that leaves with requests beside its stream is noticed with the next part") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/stream"));
  s.line->begin(200, {});
  while (::send(s.caller, "\r\n\r\n\r\n\r\n", 8, MSG_NOSIGNAL) > 0) s.turn();
  ::close(std::exchange(s.caller, -1));
  s.turn();
  s.line->send("x");
  s.turn();
  CHECK(s.left);
  CHECK(s.requests.size() == 1);
}

TEST_CASE("served connection: a caller that leaves behind more requests than are read is noticed within a second") {
  for (const bool stream : {true, false}) {
    served s;
    s.answer_at_once = false;
    s.write(get_request("/slow"));
    if (stream) s.line->begin(200, {});
    while (::send(s.caller, "\r\n\r\n\r\n\r\n", 8, MSG_NOSIGNAL) > 0) s.turn();
    s.time.advance(5s);
    s.turn();
    CHECK(!s.left);
    ::close(std::exchange(s.caller, -1));
    s.time.advance(1s);
    s.turn();
    REQUIRE(s.left);
    CHECK(s.left->empty());
  }
}

TEST_CASE("served connection: an answer that is cut has no last chunk, and HTTP/1.0 has its end from the connection") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/a"));
  s.line->begin(200, {});
  s.line->send("x");
  s.line->finish(false);
  const auto got = s.got();
  CHECK(!test::contains(got, "0\r\n\r\n"));
  CHECK(got.ends_with("<end>"));
  served old;
  old.answer_at_once = false;
  old.write("GET /a HTTP/1.0\r\n\r\n");
  old.line->begin(200, {});
  old.line->send("all");
  old.line->finish();
  CHECK(old.got().ends_with("\r\n\r\nall<end>"));
}

TEST_CASE("served connection: an answer whose parts have all left ends the connection, too, if it is the last one") {
  for (const bool at_once : {false, true}) {
    CAPTURE(at_once);
    const auto say = [&](served& s) {
      s.line->begin(200, {});
      s.turn();
      at_once ? s.line->send_alone("part") : s.line->send("part");
      s.turn();
      REQUIRE(s.line->unsent() == 0);
    };
    served cut;
    cut.answer_at_once = false;
    cut.write(get_request("/a"));
    say(cut);
    cut.line->finish(false);
    CHECK(cut.got().ends_with("4\r\npart\r\n<end>"));

    served old;
    old.answer_at_once = false;
    old.write("GET /a HTTP/1.0\r\n\r\n");
    say(old);
    old.line->finish();
    CHECK(old.got().ends_with("\r\n\r\npart<end>"));
    old.time.advance(10s);
    old.turn();
    CHECK(old.left == "");
  }
}

TEST_CASE("served connection: a caller that leaves is noticed while its answer is made") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/a"));
  CHECK(!s.left);
  ::close(std::exchange(s.caller, -1));
  s.turn();
  REQUIRE(s.left);
  CHECK(s.left->empty());
}

TEST_CASE(
    "served connection: G17: a caller that asks ahead and does not read holds one answer here, and gets them all") {
  served s;
  s.more = std::string(300'000, 'x');
  std::string asked;
  for (int i = 0; i < 40; ++i) asked += get_request("/" + std::to_string(i));
  s.write(asked);
  CHECK(s.requests.size() < 3);
  CHECK(s.line->unsent() < 400'000);
  const auto got = s.got();
  CHECK(s.requests.size() == 40);
  CHECK(test::contains(got, "ok /39"));
}

TEST_CASE("served connection: G43: what is no request, too large or refused by its head is answered, then closed") {
  const auto asked = [](const std::string& bytes) {
    served s;
    s.write(bytes);
    CHECK(s.requests.empty());
    const auto got = s.got();
    CHECK(got.ends_with("<end>"));
    return got.substr(9, 3);
  };
  CHECK(asked("SSH-2.0-x\r\n\r\n") == "400");
  CHECK(asked("GET /a HTTP/1.1\r\n\r\n") == "400");
  CHECK(asked(get_request("/a", "X: " + std::string(2000, 'x') + "\r\n")) == "431");
  CHECK(asked("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100001\r\n\r\n") == "413");
  CHECK(asked("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n") == "401");
}

TEST_CASE("served connection: G43: a body above the limit is read until it ends, so that its answer arrives") {
  served s;
  const std::string piece(64 * 1024, 'x');
  const auto send_pieces = [&](int count) {
    for (int i = 0; i < count; ++i) s.write(piece);
  };
  s.write("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n");
  send_pieces(100);
  s.time.advance(1900ms);
  send_pieces(28);
  s.time.advance(1900ms);
  CHECK_FALSE(s.left);
  CHECK(s.got().starts_with("HTTP/1.1 413 "));
  SUBCASE("a caller that sends nothing more is left after 2 s") {
    s.time.advance(200ms);
    CHECK(s.left == "");
  }
  SUBCASE("one that goes on is left after 30 s") {
    for (int i = 0; i < 30 && !s.left; ++i) {
      s.write("x");
      s.time.advance(1000ms);
    }
    CHECK(s.left == "");
  }
}

TEST_CASE("served connection: G43: behind another refusal no more than 1 MiB is read") {
  served s;
  s.write("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  CHECK(s.got().starts_with("HTTP/1.1 401 "));
  for (int i = 0; i < 17 && !s.left; ++i) s.write(std::string(64 * 1024, 'x'));
  CHECK(s.left == "");
}

TEST_CASE("served connection: a caller that only half-closes a Unix socket gets its answers") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/a") + get_request("/b") + "GET /c HT");
  ::shutdown(s.caller, SHUT_WR);
  s.turn();
  CHECK_FALSE(s.left);
  SUBCASE("all of them, then the connection ends") {
    s.line->answer({200, {}, "ok /a"});
    CHECK(test::contains(s.got(), "ok /a"));
    REQUIRE(s.requests.size() == 2);
    CHECK_FALSE(s.left);
    s.line->begin(200, {});
    s.line->send("ok /b");
    s.line->finish();
    const auto last = s.got();
    CHECK(test::contains(last, "ok /b"));
    CHECK(last.ends_with("<end>"));
    CHECK(s.left == "");
  }
  SUBCASE("but one that closes the other half as well does not wait any more") {
    ::close(std::exchange(s.caller, -1));
    s.turn();
    CHECK(s.left == "");
  }
  CHECK(s.requests.size() <= 2);
}

TEST_CASE("served connection: a half-closed connection ends at once if nothing is to be answered") {
  served s;
  s.write(get_request("/a"));
  CHECK(test::contains(s.got(), "ok /a"));
  ::shutdown(s.caller, SHUT_WR);
  CHECK(s.got() == "<end>");
  CHECK(s.left == "");
}

TEST_CASE("served connection: a half-closed connection whose request is not complete ends at once") {
  served s;
  s.write("GET /a HT");
  ::shutdown(s.caller, SHUT_WR);
  CHECK(s.got() == "<end>");
  CHECK(s.left == "");
}

TEST_CASE("served connection: whoever waits to be told may send its body is told, once its head is taken") {
  served s;
  s.write("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(s.got() == "HTTP/1.1 100 Continue\r\n\r\n");
  s.write("hi");
  CHECK(test::contains(s.got(), "ok /a"));
  served refused;
  refused.write("POST /refused HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(refused.got().starts_with("HTTP/1.1 401 "));
}

TEST_CASE("served connection: HEAD has the head of the answer only") {
  served s;
  s.write("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto got = s.got();
  CHECK(test::contains(got, "Content-Length: 5\r\n"));
  CHECK(got.ends_with("\r\n\r\n"));
}

TEST_CASE("served connection: G43: a request that does not become complete has 60 s, a silent connection 120") {
  served s;
  s.write("GET /a HTTP/1.1\r\n");
  s.time.advance(30s);
  s.write("Host: x\r\n");
  s.time.advance(29'999ms);
  CHECK(s.got().empty());
  s.time.advance(1ms);
  CHECK(s.got().starts_with("HTTP/1.1 408 "));
  served idle;
  idle.write(get_request("/a"));
  CHECK(test::contains(idle.got(), "ok /a"));
  idle.time.advance(119'999ms);
  CHECK(idle.got().empty());
  idle.time.advance(1ms);
  CHECK(idle.got() == "<end>");
  CHECK(idle.left);
}

TEST_CASE("served connection: G17: a caller that takes nothing of its answer for 30 s is let go, a slow one is not") {
  served s;
  s.answer_at_once = false;
  s.write(get_request("/a"));
  s.line->begin(200, {});
  const std::string large(4u << 20, 'x');
  s.line->send(large);
  s.turn();
  CHECK(s.line->unsent() > 1u << 20);
  char buffer[65536];
  for (int i = 0; i < 3; ++i) {
    s.time.advance(20s);
    while (::recv(s.caller, buffer, sizeof buffer, 0) > 0) {
    }
    s.turn();
    CHECK(!s.left);
  }
  s.time.advance(30s);
  s.turn();
  REQUIRE(s.left);
  CHECK(*s.left == "the caller took nothing of its answer for 30 s");
}

}  // namespace
