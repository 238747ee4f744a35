// The port for the browser's answer.
#include "daemon/logins/redirect_listener.hpp"

#include "test/mcp/http/client/client_harness.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using mcpbx::daemon::logins::redirect_listener;
using page = redirect_listener::page;

struct open_port {
  http_loop loop;
  std::unique_ptr<redirect_listener> listener;
  std::vector<std::string> queries;
  page shown = page::done;

  open_port() {
    listener = redirect_listener::open(loop.context.get_executor(), loop.real, "").value();
    listener->start([this](std::string_view query) {
      queries.emplace_back(query);
      return shown;
    });
  }
  ~open_port() { listener.reset(); }
};

TEST_CASE("redirect listener: the answer is taken once, and the port closes behind it") {
  open_port port;
  const std::string uri = port.listener->redirect_uri();
  const auto got = get(port.loop, uri + "?code=a&state=b");
  CHECK(got.status == 200);
  CHECK(got.body.find("Thank you") != std::string::npos);
  CHECK(port.queries == std::vector<std::string>{"code=a&state=b"});
  CHECK(http::find_header(got.headers, "Content-Security-Policy") == "default-src 'none'");
  CHECK(http::find_header(got.headers, "Referrer-Policy") == "no-referrer");
  http_loop other;
  CHECK(get(other, uri + "?code=again").failure);
  CHECK(port.queries.size() == 1);
}

TEST_CASE("redirect listener: an answer that is not ours leaves the port open, and no foreign text is on its page") {
  open_port port;
  port.shown = page::not_ours;
  const auto got = get(port.loop, port.listener->redirect_uri() + "?error=%3Cscript%3E");
  CHECK(got.status == 400);
  CHECK(got.body.find("script") == std::string::npos);
  port.shown = page::failed;
  CHECK(get(port.loop, port.listener->redirect_uri() + "?x=1").status == 400);
  CHECK(port.queries.size() == 2);
}

TEST_CASE("redirect listener: other paths, methods and host names reach nobody") {
  open_port port;
  const std::string uri = port.listener->redirect_uri(), root = uri.substr(0, uri.rfind('/'));
  CHECK(get(port.loop, root + "/favicon.ico").status == 404);
  http::clients::request r;
  r.method = "GET";
  r.url = uri + "?code=a";
  r.headers = {{"Host", "evil.example"}};
  recorder got;
  const auto exchange = port.loop.client->start(std::move(r), got);
  REQUIRE(port.loop.until([&] { return got.over(); }));
  CHECK(got.status == 403);
  CHECK(port.queries.empty());
}

TEST_CASE("redirect listener: connections held open do not keep the browser out whether they have asked or not") {
  for (const bool asks : {false, true}) {
    CAPTURE(asks);
    open_port port;
    const std::string uri = port.listener->redirect_uri();
    const auto number = std::stoi(uri.substr(uri.rfind(':') + 1));
    std::vector<int> silent;
    for (int i = 0; i < 40; ++i) {
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(static_cast<std::uint16_t>(number));
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
      silent.push_back(fd);
      constexpr std::string_view wrong = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
      if (asks) REQUIRE(::write(fd, wrong.data(), wrong.size()) == std::ssize(wrong));
      for (int turn = 0; turn < 8; ++turn) {
        port.loop.context.restart();
        port.loop.context.poll();
      }
      CHECK(port.listener->connections() <= redirect_listener::most_connections);
    }
    CHECK(get(port.loop, uri + "?code=a").status == 200);
    CHECK(port.queries.size() == 1);
    for (const int fd : silent) ::close(fd);
  }
}

TEST_CASE("redirect listener: the port of an earlier login is taken again if it is free") {
  http_loop loop;
  auto first = redirect_listener::open(loop.context.get_executor(), loop.real, "").value();
  const std::string uri = first->redirect_uri();
  const auto beside = redirect_listener::open(loop.context.get_executor(), loop.real, uri).value();
  CHECK(beside->redirect_uri() != uri);
  first.reset();
  loop.context.restart();
  loop.context.poll();
  CHECK(redirect_listener::open(loop.context.get_executor(), loop.real, uri).value()->redirect_uri() == uri);
}

}  // namespace
