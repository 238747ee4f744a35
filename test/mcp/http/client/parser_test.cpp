// The answer parser under every split.
#include "mcp/http/client/response_parser.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace mcpbx::http;
using namespace mcpbx::http::clients;

struct sink : parser_sink {
  int status = 0;
  std::string body, names;
  bool on_parsed_head(int s, std::vector<header> h) override {
    status = s;
    for (const auto& one : h) names += one.name + "=" + one.value + ";";
    return s != 418;
  }
  void on_parsed_body(std::string_view b) override { body += b; }
};

response_parser::verdict run(sink& s, std::string_view bytes, std::size_t step, std::size_t limit = 1000) {
  response_parser p(s, limit);
  std::string kept;
  auto v = response_parser::verdict::need_more;
  for (std::size_t at = 0; at < bytes.size() && v == response_parser::verdict::need_more; at += step) {
    kept += bytes.substr(at, step);
    std::size_t used = 0;
    v = p.put(kept, used);
    kept.erase(0, used);
  }
  return v == response_parser::verdict::need_more ? p.put_eof() : v;
}

TEST_CASE("response_parser: what is no HTTP is known from its first byte on, however it is cut") {
  for (const std::string text :
       {"SSH-2.0-OpenSSH_9.2\r\n", "HTTQ/1.1 200 OK\r\n\r\n", "{}", "HTTP 200", "\r\nHTTP/1.1 200 OK\r\n\r\n"})
    for (std::size_t step = 1; step <= text.size(); ++step) {
      CAPTURE(text);
      sink s;
      CHECK(run(s, text, step) == response_parser::verdict::wrong);
    }
  sink s;
  response_parser p(s, 1000);
  std::size_t used = 0;
  CHECK(p.put("HTT", used) == response_parser::verdict::need_more);
  CHECK(p.put("HTTX", used) == response_parser::verdict::wrong);
  CHECK(p.why() == "bad version");
}

TEST_CASE("response_parser: every split gives the same answer") {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n";
  const std::string plain = "HTTP/1.1 404 No\r\nContent-Length: 11\r\n\r\nhello world";
  const std::string until_eof = "HTTP/1.0 200 OK\r\n\r\nhello world";
  for (const auto& text : {chunked, plain, until_eof})
    for (std::size_t step = 1; step <= text.size(); ++step) {
      sink s;
      CHECK(run(s, text, step) == response_parser::verdict::done);
      CHECK(s.body == "hello world");
      CHECK(s.status == (text == plain ? 404 : 200));
    }
}

TEST_CASE("response_parser: what is cut, wrong, too large or not wanted is told apart") {
  using v = response_parser::verdict;
  sink s;
  CHECK(run(s, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello", 7) == v::wrong);
  CHECK(run(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 7) == v::wrong);
  CHECK(run(s, "SSH-2.0-x\r\n\r\n", 3) == v::wrong);
  CHECK(run(s, "", 1) == v::wrong);
  CHECK(run(s, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", 100) == v::too_large);
  CHECK(run(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n500\r\n" + std::string(0x500, 'x'), 100) ==
        v::too_large);
  CHECK(run(s, "HTTP/1.1 418 X\r\nContent-Length: 0\r\n\r\n", 100) == v::stopped);
}

}  // namespace
