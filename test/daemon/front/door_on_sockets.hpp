// A door over real sockets: the test is the caller, and the daemon behind the door is a script.
#pragma once
#include "daemon/front/front_door.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::run;
using namespace mcpbx::json;

struct door_on_sockets {
  explicit door_on_sockets(std::size_t max_callers = 64)
      : door(io.get_executor(), time, backend, options(max_callers)) {
    door.serves_port("127.0.0.1:1", {.on_port = true, .token = "0123456789abcdef"}, "/x/token");
  }
  ~door_on_sockets() {
    door.close();
    turn();
    for (const int fd : callers) ::close(fd);
  }
  static front_door::options options(std::size_t max_callers) {
    front_door::options o;
    o.version = "1";
    o.max_callers = max_callers;
    return o;
  }
  int enter(bool on_port = false) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    callers.push_back(ends[0]);
    if (on_port)
      door.accept_on_port(ends[1], "127.0.0.1:2");
    else
      door.accept(ends[1], {1000, 100});
    turn();
    return ends[0];
  }
  void turn() {
    io.restart();
    io.poll();
  }
  void write(int fd, std::string_view text) {
    REQUIRE(::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    turn();
  }
  void leave(int fd) {
    std::erase(callers, fd);
    ::close(fd);
    turn();
  }
  std::string got(int fd) {
    turn();
    std::string all;
    char buffer[65536];
    for (;;) {
      const auto n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n == 0) return all + "<end>";
      if (n < 0) return all;
      all.append(buffer, static_cast<std::size_t>(n));
      turn();
    }
  }
  static std::string post(const std::string& body, const std::string& headers = "",
                          const std::string& path = "/v1/chat/completions") {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  static std::string asked(const std::string& more = "") {
    return post(R"({"model":"m","messages":[{"role":"user","content":"hi"}])" + more + "}");
  }
  run_feed& feed(const std::string& run = "run-1") {
    REQUIRE(backend.feeds.contains(run));
    return *backend.feeds.at(run);
  }
  void text(const std::string& delta) { feed().push({run_event::kind::text, {}, delta, {}}); }
  void round(int number) { feed().push({run_event::kind::round, {}, {}, daemon::event_json::round(number, "m")}); }
  void done(const std::string& members, int input = 1, int output = 2) {
    feed().done(raw_json::own(R"({"run":"run-1",)" + members + R"(,"usage":{"inputTokens":)" + std::to_string(input) +
                              R"(,"outputTokens":)" + std::to_string(output) + "}}"));
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  front_door door;
  std::vector<int> callers;
};

// The body of an answer that came in chunks.
inline std::string joined(const std::string& answer) {
  std::string body;
  auto at = answer.find("\r\n\r\n");
  REQUIRE(at != std::string::npos);
  at += 4;
  while (at < answer.size()) {
    const auto size = std::stoul(answer.substr(at), nullptr, 16);
    at = answer.find("\r\n", at) + 2;
    body += answer.substr(at, size);
    at += size + 2;
    if (size == 0) break;
  }
  return body;
}

}  // namespace mcpbx::test
