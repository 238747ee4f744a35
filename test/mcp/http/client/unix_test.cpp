// Endpoints behind a Unix socket.
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::test;

recorder post(http_loop& loop, const std::string& url) {
  http::clients::request r;
  r.url = url;
  r.body.append_copy("hi");
  recorder got;
  const auto exchange = loop.client->start(std::move(r), got);
  REQUIRE(loop.until([&] { return got.over(); }));
  return got;
}

TEST_CASE("client: an endpoint behind a Unix socket is asked, its connection kept, and never through a proxy") {
  const std::string path = "/tmp/mcpbx-http-test-" + std::to_string(::getpid()) + ".sock";
  const http_listener server(path, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) send_plain(peer, 200, "text/plain", q.target + " " + q.header("host") + " " + q.body);
  });
  http::clients::client::options o;
  o.proxies = http::clients::proxy_rules::from([](const char*) { return std::string("http://127.0.0.1:1"); });
  http_loop loop(nullptr, o);
  CHECK(post(loop, "unix:" + path + ":/v1/chat?x=1").body == "/v1/chat?x=1 localhost hi");
  CHECK(post(loop, "unix://" + path).body == "/ localhost hi");
  CHECK(loop.client->counts().connections == 1);
  CHECK(loop.client->counts().reused == 1);
}

TEST_CASE("client: a socket that is not there, or that nobody serves, is told with its path") {
  http_loop loop;
  const auto got = post(loop, "unix:/no/such/model.sock:/v1");
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::clients::stage::connect);
  CHECK(got.failure->why.message == "unix:/no/such/model.sock could not be reached: No such file or directory.");
}

}  // namespace
