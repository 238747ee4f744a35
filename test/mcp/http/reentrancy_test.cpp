// Tests of actions inside events of the HTTP client and of a served connection: at every event of every kind of answer
// the exchange, the connection or the client ends, or another exchange begins. Meant for the asan preset.
#include "mcp/http/server/server_connection.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace http_reentrancy {

using namespace mcpbx;
using namespace mcpbx::test;

// Does `act` at the event number `at`, the first being 1.
struct acting : http::clients::response_events {
  int at = 0, events = 0, after_leaving = 0, ends = 0;
  bool left = false;
  std::function<void()> act;
  void event() {
    if (left) ++after_leaving;
    if (++events == at) act();
  }
  void on_head(int, const std::vector<http::header>&) override { event(); }
  void on_body(std::string_view) override { event(); }
  void on_pause() override { event(); }
  void on_end() override {
    ++ends;
    event();
  }
  void on_failure(http::clients::failure) override {
    ++ends;
    event();
  }
};

std::string head(std::string_view more, int status = 200) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + std::string(more) + "\r\n";
}

// Whole, in chunks, to the end of the connection, an error, cut, and what is no HTTP.
const std::vector<std::string>& answers() {
  static const std::string large(20'000, 'x');
  static const std::vector<std::string> all{
      head("Content-Length: 5\r\n") + "hello",
      head("Content-Length: 20000\r\n") + large,
      head("Transfer-Encoding: chunked\r\n") + "4e20\r\n" + large + "\r\n3\r\nend\r\n0\r\n\r\n",
      head("Connection: close\r\n") + "to the end",
      head("Content-Length: 4\r\n", 400) + "nope",
      head("Content-Length: 50\r\n") + "cut",
      head("Content-Encoding: gzip\r\nContent-Length: 5\r\n") + "wrong",
      head("Content-Encoding: br\r\nContent-Length: 5\r\n") + "wrong",
      "no HTTP at all\r\n\r\n"};
  return all;
}

struct server {
  std::string answer;
  http_listener listener{0, [this](http_peer& peer, std::uint64_t) {
                           http_peer::request q;
                           while (peer.read(q) && peer.send(answer))
                             if (answer.find("Content-Length: 50") != std::string::npos || answer.starts_with("no") ||
                                 answer.find("close") != std::string::npos)
                               return peer.close();
                         }};
  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener.port()); }
};

TEST_CASE("client: in any event its user may leave, begin another exchange, do both, or end the client") {
  for (const auto& answer : answers()) {
    const server from{answer};
    for (const bool leave : {false, true})
      for (const bool begin : {false, true})
        for (const bool end : {false, true}) {
          bool reached = true;
          for (int at = 1; reached; ++at) {
            CAPTURE(answer.substr(0, 60));
            CAPTURE(at);
            http_loop loop;
            acting first;
            recorder second, third;
            std::unique_ptr<http::clients::exchange> one, two;
            first.at = at;
            first.act = [&] {
              if (begin) two = loop.client->start(ask(from.url(), "x"), second);
              if (leave) {
                one.reset();
                first.left = true;
              }
              if (end) loop.client.reset();
            };
            one = loop.client->start(ask(from.url(), "x"), first);
            REQUIRE(loop.until([&] { return first.ends > 0 || first.left || (end && first.events >= at); }));
            reached = first.events >= at;
            if (begin && !end && reached) REQUIRE(loop.until([&] { return second.over(); }));
            loop.context.poll();
            CHECK(first.after_leaving == 0);
            CHECK(first.ends <= 1);
            two.reset();
            one.reset();
            if (!loop.client) continue;
            // The client works on.
            const auto last = loop.client->start(ask(from.url(), "x"), third);
            REQUIRE(loop.until([&] { return third.over(); }));
          }
        }
  }
}

// A served connection whose user does `act` at the event number `at`.
struct acting_server : http::servers::server_events {
  int at = 0, events = 0, after_leaving = 0;
  bool left = false;
  std::function<void(acting_server&)> act;
  std::optional<http::servers::server_connection> line;
  void event() {
    if (left) ++after_leaving;
    if (++events == at) act(*this);
  }
  std::optional<http::servers::server_answer> on_head(const http::servers::request_head&) override {
    event();
    return std::nullopt;
  }
  void on_request(http::servers::request_head q, shared_bytes) override {
    event();
    if (!line) return;
    if (q.target == "/whole") return line->answer({200, {}, std::string(100'000, 'a')});
    line->begin(200, {});
    line->send("part");
    line->send(std::string(100'000, 'b'));
  }
  http::servers::server_answer on_fault(int status, std::string_view what) override {
    event();
    return {status, {}, std::string(what)};
  }
  void on_drained() override {
    event();
    if (line) line->finish();
  }
  void on_left(const std::string&) override { event(); }
};

TEST_CASE("served connection: in any event its user may close it, destroy it, answer, or do it all") {
  const std::string request = " HTTP/1.1\r\nHost: x\r\n";
  const std::vector<std::string> said{
      "GET /whole" + request + "\r\nGET /stream" + request + "\r\n",
      "POST /stream" + request + "Content-Length: 5\r\n\r\nhelloGET /whole" + request + "\r\n",
      "POST /whole" + request + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
      "GET /whole" + request + "\r\nno request\r\n\r\n",
      "POST /whole" + request + "Content-Length: 9999999\r\n\r\n",
      "GET /stream" + request + "Long: " + std::string(2000, 'h') + "\r\n\r\n"};
  using action = std::function<void(acting_server&)>;
  const std::vector<action> actions{[](acting_server&) {},
                                    [](acting_server& s) {
                                      s.line->close();
                                      s.left = true;
                                    },
                                    [](acting_server& s) {
                                      s.line.reset();
                                      s.left = true;
                                    },
                                    [](acting_server& s) { s.line->answer({200, {}, "early"}); },
                                    [](acting_server& s) {
                                      s.line->begin(200, {});
                                      s.line->send("x");
                                      s.line->finish(false);
                                    },
                                    [](acting_server& s) {
                                      s.line->answer({500, {}, "early"});
                                      s.line->close();
                                      s.line->answer({500, {}, "late"});
                                      s.line.reset();
                                      s.left = true;
                                    }};
  for (const auto& text : said)
    for (const auto& act : actions)
      for (const bool stays : {false, true}) {
        bool reached = true;
        for (int at = 1; reached; ++at) {
          CAPTURE(text.substr(0, 60));
          CAPTURE(at);
          boost::asio::io_context context;
          manual_time time;
          int ends[2];
          REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
          acting_server s;
          s.at = at;
          s.act = act;
          s.line.emplace(context.get_executor(), time, ends[1],
                         http::servers::server_limits{.size = {.head = 1000, .body = 10'000}}, s);
          s.line->start();
          (void)!::send(ends[0], text.data(), text.size(), MSG_NOSIGNAL);
          const auto turn = [&] {
            std::string got(1 << 17, '\0');
            bool more = true;
            while (more) {
              context.restart();
              more = context.poll() > 0;
              while (::recv(ends[0], got.data(), got.size(), 0) > 0) more = true;
            }
          };
          turn();
          if (!stays) ::shutdown(ends[0], SHUT_RDWR);
          turn();
          time.advance(std::chrono::minutes(3));
          turn();
          reached = s.events >= at;
          CHECK(s.after_leaving == 0);
          s.line.reset();
          ::close(ends[0]);
          turn();
        }
      }
}

}  // namespace http_reentrancy
