// The addresses that an authorization may use.
#include "mcp/auth/endpoint_rule.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

namespace {

using namespace mcpbx::auth;

TEST_CASE("endpoint_rule: hosts are told apart by their text, in every spelling of an address") {
  for (const auto* host :
       {"127.0.0.1", "127.9.9.9", "::1", "localhost", "a.localhost", "localhost.", "::ffff:127.0.0.1", "0.0.0.0",
        "::", "ip6-localhost", "localhost.localdomain", "2002:7f00:1::1"})
    CHECK_MESSAGE(reach_of(host) == reach::loopback, host);
  for (const auto* host : {"10.0.0.1",      "172.16.0.1",    "172.31.255.255", "192.168.1.1",     "169.254.169.254",
                           "100.64.0.1",    "a.localdomain", "224.0.0.1",      "255.255.255.255", "fe80::1",
                           "fd00::1",       "2002:a00:1::1", "ff02::1",        "::ffff:10.0.0.1", "64:ff9b::a00:1",
                           "printer.local", "x.internal",    "2130706433",     "0x7f000001",      "fe80::1%eth0"})
    CHECK_MESSAGE(reach_of(host) == reach::private_network, host);
  for (const auto* host : {"8.8.8.8", "172.32.0.1", "example.com", "2001:4860:4860::8888", "local.example.com"})
    CHECK_MESSAGE(reach_of(host) == reach::public_network, host);
}

TEST_CASE("endpoint_rule: a host that may be an address in disguise is refused wherever the server is") {
  for (const auto* server : {"https://mcp.example.com/", "https://10.0.0.1/", "http://127.0.0.1/"})
    for (const auto* url : {"https://2130706433/", "https://127.1/", "https://0x7f.1/", "https://0x7f000001./"})
      CHECK_MESSAGE(!endpoint_rule::of(server, true).check("it", url), url);
  const auto inside = endpoint_rule::of("https://10.0.0.1/", true);
  for (const auto* url : {"https://0.0.0.0/", "https://[::]/", "https://ip6-localhost/"})
    CHECK_MESSAGE(!inside.check("it", url), url);
  CHECK(inside.check("it", "https://10.0.0.2/"));
}

TEST_CASE("endpoint_rule: a public server can send nobody to a private address or to this machine") {
  const auto rule = endpoint_rule::of("https://mcp.example.com/mcp", false);
  CHECK(rule.check("it", "https://auth.example.com/token"));
  for (const auto* url :
       {"http://auth.example.com/token", "https://10.0.0.1/", "https://127.0.0.1/", "http://localhost/",
        "https://169.254.169.254/latest", "unix:/run/x", "file:///etc/passwd", "javascript:alert(1)", ""})
    CHECK_MESSAGE(!rule.check("it", url), url);
  CHECK(endpoint_rule::of("https://mcp.example.com/mcp", true).check("it", "https://10.0.0.1/"));
  CHECK_FALSE(endpoint_rule::of("https://mcp.example.com/mcp", true).check("it", "http://127.0.0.1/"));
}

TEST_CASE("endpoint_rule: an address that is none is shown on one line and cut") {
  const auto rule = endpoint_rule::of("https://mcp.example.com/mcp", false);
  const std::string said = rule.check("it", "https://a\n\x1B[31mb" + std::string(5'000, 'x')).error().message;
  CHECK(said.find('\n') == std::string::npos);
  CHECK(said.find('\x1B') == std::string::npos);
  CHECK(said.size() < 500);
}

TEST_CASE("endpoint_rule: a server of this machine may have its authorization there, without TLS") {
  const auto rule = endpoint_rule::of("http://127.0.0.1:8000/mcp", false);
  CHECK(rule.check("it", "http://localhost:9000/token"));
  CHECK(rule.check("it", "https://auth.example.com/token"));
  CHECK_FALSE(rule.check("it", "http://auth.example.com/token"));
  const auto inside = endpoint_rule::of("https://10.1.2.3/mcp", false);
  CHECK(inside.check("it", "https://10.1.2.4/token"));
  CHECK_FALSE(inside.check("it", "https://127.0.0.1/token"));
}

TEST_CASE("endpoint_rule: the addresses that a name has are judged like those in a text") {
  const auto rule = endpoint_rule::of("https://mcp.example.com/mcp", false);
  CHECK(rule.check_address("auth.example.com", "93.184.216.34"));
  for (const auto* address : {"10.0.0.1", "169.254.169.254", "127.0.0.1", "::1", "fd00::1", "::ffff:10.0.0.1"})
    CHECK_MESSAGE(!rule.check_address("auth.example.com", address), address);
  CHECK(rule.check_address("auth.example.com", "192.168.1.1").error().message ==
        "it has the address 192.168.1.1 of a private network; if that is right, set \"auth\": {\"privateAddresses\": "
        "true} in the server's entry");
  // The entry of the server names its own host, and a proxy of this machine gives its own addresses to all names.
  CHECK(rule.check_address("mcp.example.com", "10.0.0.1"));
  CHECK(rule.check_address("auth.example.com", "198.18.0.7"));
  const auto inside = endpoint_rule::of("https://mcp.example.com/mcp", true);
  CHECK(inside.check_address("auth.example.com", "10.0.0.1"));
  CHECK_FALSE(inside.check_address("auth.example.com", "127.0.0.1"));
  CHECK(endpoint_rule::of("http://localhost:1/", false).check_address("as.test", "127.0.0.1"));
  CHECK(rule.name() != inside.name());
}

}  // namespace
