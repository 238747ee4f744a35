// Addresses.
#include "mcp/http/url.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

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

TEST_CASE("url: what is taken goes on as it was written") {
  struct taken {
    std::string_view url, authority, target;
  };
  for (const auto& t : {taken{"HtTp://Ex.COM/Path", "ex.com", "/Path"},
                        {"http://h:1", "h:1", "/"},
                        {"https://h:65535", "h:65535", "/"},
                        {"http://h:00000080", "h", "/"},
                        {"https://h:443", "h", "/"},
                        {"http://h?", "h", "/?"},
                        {"http://h#f", "h", "/"},
                        {"http://h/a#b#c", "h", "/a"},
                        {"http://h?x#y?z", "h", "/?x"},
                        {"http://h/a/./../b", "h", "/a/./../b"},
                        {"http://h/a//b:c@d", "h", "/a//b:c@d"},
                        {"http://h/%zz%2", "h", "/%zz%2"},
                        {"http://h/{x}|\\^`\"<>", "h", "/{x}|\\^`\"<>"},
                        {"http://h/?q={\"a\":[1]}", "h", "/?q={\"a\":[1]}"},
                        {"http://h/\xC3\xA9", "h", "/\xC3\xA9"},
                        {"http://xn--h-cja", "xn--h-cja", "/"},
                        {"http://h_x.-y./", "h_x.-y.", "/"},
                        {"http://999.1.1.1", "999.1.1.1", "/"},
                        {"http://127.0.0.1.nip.io:8080/v1", "127.0.0.1.nip.io:8080", "/v1"},
                        {"http://10.0.0.1.example/", "10.0.0.1.example", "/"},
                        {"http://1.2.3.4a", "1.2.3.4a", "/"},
                        {"http://127.0.0.1.:81", "127.0.0.1.:81", "/"},
                        {"http://[::ffff:1.2.3.4]:81/", "[::ffff:1.2.3.4]:81", "/"},
                        {"http://[FE80::1%eth0]:81/", "[fe80::1%eth0]:81", "/"},
                        {"http://[fe80::1%25eth0]", "[fe80::1%25eth0]", "/"}}) {
    const auto u = parse_url(t.url);
    REQUIRE_MESSAGE(u, t.url);
    CHECK_MESSAGE(u->authority == t.authority, t.url);
    CHECK_MESSAGE(u->target == t.target, t.url);
  }
}

TEST_CASE("url: what is refused is refused with its reason") {
  struct refused {
    std::string_view url, why;
  };
  constexpr std::string_view scheme = "it must begin with http://, https:// or unix:/.", no_host = "it names no host.",
                             port = "its port is no number from 1 to 65535.",
                             blank = "it holds a blank or a control character.",
                             user = "user names and passwords belong into headers.",
                             strange = "its host name holds a character that host names do not have.",
                             open = "the bracket of its IPv6 address is not closed.",
                             no_ipv6 = "its brackets hold no IPv6 address.";
  for (const auto& r : {refused{"http:/h", scheme},
                        {"http:h", scheme},
                        {"//h", scheme},
                        {" http://h", scheme},
                        {"https:///", no_host},
                        {"https://?x", no_host},
                        {"https://:80/", no_host},
                        {"http://::1/", no_host},
                        {"http://[]", no_host},
                        {"http://h:", port},
                        {"http://h:0", port},
                        {"http://h:65536", port},
                        {"http://h:99999", port},
                        {"http://h:99999999999999999999", port},
                        {"http://h:+80", port},
                        {"http://h:x", port},
                        {"http://1:2:3", port},
                        {"http://[::1]x", port},
                        {"http://[::1]8080", port},
                        {"http://[::1]:", port},
                        {"http://h/a b", blank},
                        {"http://h\t", blank},
                        {"http://h/\x7F", blank},
                        {"http://a b:0/", blank},
                        {"http://@h/", user},
                        {"http://u:p@/", user},
                        {"http://h;x/", strange},
                        {"http://h~x/", strange},
                        {"http://(h)/", strange},
                        {"http://h\\x/", strange},
                        {"http://h\xC3\xA9/", strange},
                        {"http://h%41/", strange},
                        {"http://a%zz/", strange},
                        {"http://127.0.0.1%2Eexample/", strange},
                        {"http://[fe80::1%eth0%x]/", strange},
                        {"http://127.0.0.1@example/", user},
                        {"http://example\\@127.0.0.1/", user},
                        {"http://127.0.0.1.example:99999/", port},
                        {"http://127.0.0.1.example:65616/", port},
                        {"http://[::1]]:80/", port},
                        {"http://[v1.a]/", no_ipv6},
                        {"http://[%eth0]/", no_host},
                        {"http://h\"x:0/", strange},
                        {"http://[::1", open},
                        {"http://[::1%eth0", open},
                        {"http://[h]", no_ipv6},
                        {"http://[1.2.3.4]", no_ipv6},
                        {"http://[:::]", no_ipv6},
                        {"http://[12345::]", no_ipv6}}) {
    const auto u = parse_url(r.url);
    REQUIRE_MESSAGE(!u, r.url);
    CHECK_MESSAGE(u.error().message.ends_with(" is no usable address: " + std::string(r.why)), u.error().message);
  }
}

}  // namespace
