// Proxies: the rules of the environment, plain requests through one, and tunnels for TLS.
#include "mcp/http/client/proxy.hpp"

#include "mcp/redact/secret.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/mcp/http/client/tls_peer.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::redact;
using namespace mcpbx::test;
using mcpbx::http::clients::proxy_rules;
using variables = std::map<std::string, std::string>;

proxy_rules rules(const variables& given) {
  return proxy_rules::from([&](const char* name) {
    const auto found = given.find(name);
    return found == given.end() ? std::string() : found->second;
  });
}

// host:port of the proxy, "" for none, "!" for an error.
std::string via(const proxy_rules& r, const std::string& url) {
  const auto found = r.find(http::parse_url(url).value());
  return !found ? "!" : *found == nullptr ? "" : (*found)->label;
}

TEST_CASE("proxy: the variable of the scheme counts, the lower-case name first") {
  const auto r = rules({{"HTTPS_PROXY", "http://secure.example:1"},
                        {"HTTP_PROXY", "upper.example:2"},
                        {"http_proxy", "http://lower.example"}});
  CHECK(via(r, "https://api.example.com/v1") == "secure.example:1");
  CHECK(via(r, "http://api.example.com/v1") == "lower.example:80");
  CHECK(via(rules({{"HTTPS_PROXY", "p:1"}}), "http://api.example.com") == "");
  CHECK(via(rules({}), "https://api.example.com") == "");
}

TEST_CASE("proxy: addresses of this machine are never asked through one") {
  const auto r = rules({{"HTTP_PROXY", "http://p:1"}, {"HTTPS_PROXY", "http://p:1"}});
  for (const auto* local : {"http://localhost:8080/v1", "https://a.localhost", "http://127.0.0.1:8080",
                            "http://127.8.8.8", "http://[::1]:1", "unix:/run/x.sock"})
    CHECK_MESSAGE(via(r, local) == "", local);
  CHECK(via(r, "http://10.0.0.1") == "p:1");
}

TEST_CASE("proxy: NO_PROXY names hosts with all below them, ports, addresses and networks") {
  const auto r = rules({{"HTTP_PROXY", "http://p:1"},
                        {"NO_PROXY",
                         "example.com, .Dotted.test *.star.test ported.test:8080,10.1.0.0/16,"
                         "rooted.test.,192.168.1.7,fd00::/8,[2001:db8::1]:81,fe80::5,10.2.0.0/x,:5,"}});
  for (const auto* direct :
       {"http://example.com", "http://a.b.example.com:99", "http://dotted.test", "http://x.dotted.test",
        "http://x.star.test", "http://example.com.", "http://rooted.test", "http://localhost.",
        "http://ported.test:8080", "http://10.1.255.1", "http://192.168.1.7:8080", "http://[fd12::1]",
        "http://[2001:db8::1]:81", "http://[fe80::5]"})
    CHECK_MESSAGE(via(r, direct) == "", direct);
  for (const auto* proxied : {"http://badexample.com", "http://example.com.evil.test", "http://ported.test",
                              "http://10.2.0.1", "http://192.168.1.70", "http://[2001:db8::1]", "http://[fc00::1]"})
    CHECK_MESSAGE(via(r, proxied) == "p:1", proxied);
  CHECK(via(rules({{"HTTP_PROXY", "http://p:1"}, {"no_proxy", "*"}}), "http://example.com") == "");
}

TEST_CASE("G35: what a proxy variable holds is in no error, and its password is known to the redactor") {
  redactor::clear();
  const auto r = rules({{"HTTPS_PROXY", "http://user:canary%40word@p.example:3128/"}});
  const auto* found = *r.find(http::parse_url("https://api.example.com").value());
  REQUIRE(found != nullptr);
  CHECK(found->authorization == "Basic dXNlcjpjYW5hcnlAd29yZA==");
  CHECK(found->label == "p.example:3128");
  CHECK(redactor::redact("canary@word dXNlcjpjYW5hcnlAd29yZA==") == "*** ***");
  redactor::clear();
  for (const auto* bad : {"socks5://user:canary-word@p:1", "https://user:canary-word@p:1",
                          "http://user:canary-word@p:99999", "http://user:canary-word@", "http://a b canary-word"}) {
    const auto wrong = rules({{"HTTPS_PROXY", bad}}).find(http::parse_url("https://api.example.com").value());
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == errc::config);
    CHECK(wrong.error().message.find("HTTPS_PROXY") != std::string::npos);
    CHECK(wrong.error().message.find("canary") == std::string::npos);
  }
}

http::clients::client::options through(const variables& given) {
  http::clients::client::options o;
  o.proxies = rules(given);
  return o;
}

TEST_CASE("client: a plain request goes to the proxy with its whole address, and the name is not looked up here") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q))
      send_plain(peer, 200, "text/plain", q.target + "|" + q.header("host") + "|" + q.header("proxy-authorization"));
  });
  http_loop loop(nullptr, through({{"HTTP_PROXY", "http://u:p@127.0.0.1:" + std::to_string(server.port())}}));
  for (int i = 0; i < 2; ++i)
    CHECK(get(loop, "http://model.invalid:8080/v1?x").body ==
          "http://model.invalid:8080/v1?x|model.invalid:8080|Basic dTpw");
  CHECK(loop.client->counts().connections == 1);
}

TEST_CASE("G33: through a proxy's tunnel the endpoint's certificate and name are verified all the same") {
  const identity who("DNS:model.invalid");
  const pem_file ca(who.pem());
  tls_server server(who, "HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n");
  http_loop loop(nullptr, through({{"HTTPS_PROXY", "http://u:p@127.0.0.1:" + std::to_string(server.port())}}));
  for (int i = 0; i < 2; ++i) {
    const auto got = get(loop, "https://model.invalid/v1", ca.path);
    CHECK_FALSE(got.failure);
    CHECK(got.body == "ok");
  }
  CHECK(loop.client->counts().connections == 1);
  CHECK(server.sni == "model.invalid");
  CHECK(server.connect ==
        "CONNECT model.invalid:443 HTTP/1.1\r\nHost: model.invalid:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n");
  const auto got = get(loop, "https://other.invalid:444/v1", ca.path);
  REQUIRE(got.failure);
  CHECK(got.failure->stage == http::clients::stage::tls);
  CHECK(got.failure->why.message.find("for another name") != std::string::npos);
  CHECK(server.connect.starts_with("CONNECT other.invalid:444 "));
}

TEST_CASE(
    "client: what a proxy refuses or garbles is told with both names, and only what may pass is worth repeating") {
  const identity who("DNS:model.invalid");
  struct row {
    std::string answer, said;
    errc code;
  };
  for (const auto& r : std::vector<row>{
           {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "status 407: check the user name", errc::config},
           {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "status 403", errc::config},
           {"HTTP/1.1 502 Bad Gateway\r\n\r\n", "status 502", errc::unavailable},
           {"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP", errc::protocol},
           {"HTTP/1.1 200 OK\r\n\r\nmore", "more than its answer", errc::protocol},
           {"HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x'), "not HTTP", errc::protocol}}) {
    CAPTURE(r.answer.substr(0, 40));
    tls_server server(who, r.answer);
    http_loop loop(nullptr, through({{"HTTPS_PROXY", "http://127.0.0.1:" + std::to_string(server.port())}}));
    const auto got = get(loop, "https://model.invalid/v1");
    REQUIRE(got.failure);
    CHECK(got.failure->stage == http::clients::stage::connect);
    CHECK(got.failure->why.code == r.code);
    CHECK(got.failure->why.message.starts_with("model.invalid, through the proxy 127.0.0.1:"));
    CHECK(got.failure->why.message.find(r.said) != std::string::npos);
  }
}

TEST_CASE("client: a proxy that is not there, or named wrongly, is told") {
  http_loop loop(nullptr, through({{"HTTPS_PROXY", "http://127.0.0.1:1"}, {"HTTP_PROXY", "socks5://127.0.0.1:1080"}}));
  auto got = get(loop, "https://model.invalid/v1");
  REQUIRE(got.failure);
  CHECK(got.failure->why.code == errc::unavailable);
  CHECK(got.failure->why.message.find("through the proxy 127.0.0.1:") != std::string::npos);
  got = get(loop, "http://model.invalid/v1");
  REQUIRE(got.failure);
  CHECK(got.failure->why.code == errc::config);
  CHECK(got.failure->why.message.find("HTTP_PROXY names no usable proxy") != std::string::npos);
}

}  // namespace
