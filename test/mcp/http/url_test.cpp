// Addresses.
#include "mcp/http/url.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using mcpbx::http::parse_url;

TEST_CASE("url: parts, defaults and what connections are pooled by") {
  auto u = parse_url("https://API.Example.com/v1/chat?x=1#frag").value();
  CHECK(u.tls);
  CHECK(u.host == "api.example.com");
  CHECK(u.port == 443);
  CHECK(u.target == "/v1/chat?x=1");
  CHECK(u.authority == "api.example.com");
  CHECK(u.origin == "https://api.example.com:443");
  u = parse_url("http://[::1]:8080?q").value();
  CHECK(u.host == "::1");
  CHECK(u.target == "/?q");
  CHECK(u.authority == "[::1]:8080");
  CHECK(parse_url("http://h:80").value().authority == "h");
}

TEST_CASE("url: a Unix socket, with the path for the server behind it") {
  auto u = parse_url("unix:/run/llama.sock:/v1/models?x=1#frag").value();
  CHECK(u.socket == "/run/llama.sock");
  CHECK(u.target == "/v1/models?x=1");
  CHECK(u.authority == "localhost");
  CHECK(u.origin == "unix:/run/llama.sock");
  CHECK_FALSE(u.tls);
  u = parse_url("unix:///run/llama.sock").value();
  CHECK(u.socket == "/run/llama.sock");
  CHECK(u.target == "/");
  for (const auto* bad : {"unix:", "unix:run/x", "unix://run/x", "unix:/a b", "unix:/a:/b c", "unix:/a\n"})
    CHECK_MESSAGE(!parse_url(bad), bad);
  CHECK(parse_url("unix:/" + std::string(106, 'x')));
  CHECK_FALSE(parse_url("unix:/" + std::string(107, 'x')));
}

TEST_CASE("url: a path can be appended to every kind of base") {
  using mcpbx::http::appendable;
  CHECK(appendable("unix:/run/x.sock") == "unix:/run/x.sock:/");
  CHECK(appendable("unix:/run/x.sock:/v1") == "unix:/run/x.sock:/v1");
  CHECK(appendable("https://h/v1") == "https://h/v1");
}

TEST_CASE("url: what could break a request or send a password is refused") {
  for (const auto* bad : {"", "h", "ftp://h", "http://", "http:///x", "http://h:0", "http://h:70000", "http://h:x",
                          "http://h:", "http://a b/", "http://h/\r\nX: y", "http://user:pw@h/", "http://[::1",
                          "http://h\"x/", "https://[]"})
    CHECK_MESSAGE(!parse_url(bad), bad);
  CHECK(parse_url("http://user:hunter2@h/").error().message.find("hunter2") == std::string::npos);
  CHECK(parse_url("gopher://h/?key=hunter2").error().message.find("hunter2") == std::string::npos);
}

}  // namespace
