// The request parser under every split, and what it must refuse.
#include "mcp/http/server/request_parser.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::http::servers;
using verdict = request_parser::verdict;

struct parsed {
  verdict end = verdict::need_more;
  request_head head;
  std::string body, why;
  bool keep = false;
};

parsed run_request(std::string_view bytes, std::size_t step, request_parser::limits l = {.head = 1000, .body = 1000}) {
  request_parser p(l);
  std::string kept;
  parsed out;
  for (std::size_t at = 0; at < bytes.size() && out.end == verdict::need_more; at += step) {
    kept += bytes.substr(at, step);
    do {
      std::size_t used = 0;
      out.end = p.put(kept, used);
      kept.erase(0, used);
    } while (out.end == verdict::head);
  }
  out.why = p.why();
  if (out.end != verdict::done) return out;
  out.keep = p.keep_alive();
  out.head = p.take_head();
  out.body = p.take_body().view();
  return out;
}

parsed whole(const std::string& bytes) {
  return run_request(bytes, bytes.size());
}

TEST_CASE("request_parser: every split gives the same request") {
  const std::string sized = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello world";
  const std::string chunked =
      "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n "
      "world\r\n0\r\nHost: "
      "evil\r\n\r\n";
  for (const auto& text : {sized, chunked})
    for (std::size_t step = 1; step <= text.size(); ++step) {
      const auto got = run_request(text, step);
      REQUIRE(got.end == verdict::done);
      CHECK(got.head.method == "POST");
      CHECK(got.head.target == "/a?b=c");
      CHECK(got.head.headers.size() == 2);
      CHECK(got.body == "hello world");
      CHECK(got.keep);
    }
}

TEST_CASE("request_parser: a body of the last chunk alone may come in any pieces") {
  const std::string text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  const std::string same = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n0\r\n\r\n0\r\n\r\n";
  for (std::size_t step = 1; step <= same.size(); ++step) {
    CHECK(run_request(text, step).end == verdict::done);
    CHECK(run_request(same, step).body == "0\r\n");
  }
}

TEST_CASE("request_parser: G43: a request that others might read differently is refused") {
  const auto refused = [](const std::string& headers) {
    const auto got = whole("POST / HTTP/1.1\r\n" + headers + "\r\nhello");
    CAPTURE(headers);
    CHECK(got.end == verdict::wrong);
    CHECK(!got.why.empty());
  };
  refused("Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n");
  refused("Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n");
  refused("Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n");
  refused("Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n");
  refused("Host: a\r\nContent-Length: +5\r\n");
  refused("Host: a\r\nContent-Length : 5\r\n");
  refused("Host: a\r\nTransfer-Encoding: gzip, chunked\r\n");
  refused("Host: a\r\nTransfer-Encoding: chunked, identity\r\n");
  refused("Host: a\r\nTransfer-Encoding: xchunked\r\n");
  refused("Host: a\r\nHost: b\r\n");
  refused("Content-Length: 0\r\n");
  CHECK(whole("GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n").end == verdict::wrong);
  CHECK(whole("GET * HTTP/1.1\r\nHost: a\r\n\r\n").end == verdict::wrong);
  CHECK(whole("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").end == verdict::wrong);
  CHECK(whole("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").end == verdict::wrong);
}

TEST_CASE("request_parser: G43: headers and bodies above their limits are told apart, announced or sent") {
  CHECK(whole("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1000, 'x') + "\r\n\r\n").end == verdict::head_too_large);
  CHECK(whole("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n").end == verdict::body_too_large);
  const std::string chunk = "200\r\n" + std::string(0x200, 'x') + "\r\n";
  CHECK(whole("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk).end ==
        verdict::body_too_large);
}

TEST_CASE("request_parser: G43: the limit of the head holds for all its bytes, however they are cut") {
  std::string lines = "GET / HTTP/1.1\r\nHost: a\r\n";
  while (lines.size() < 970) lines += "X: y\r\n";
  const auto head_of = [&](std::size_t bytes) {
    return lines + "Y: " + std::string(bytes - lines.size() - 7, 'z') + "\r\n\r\n";
  };
  REQUIRE(head_of(1000).size() == 1000);
  for (std::size_t step = 1; step <= 1001; ++step) {
    CAPTURE(step);
    CHECK(run_request(head_of(1000), step).end == verdict::done);
    CHECK(run_request(head_of(1001), step).end == verdict::head_too_large);
  }
  // A line with each piece, cut where nothing of it has to be kept, and no end.
  request_parser p({.head = 1000, .body = 0});
  std::string kept = "GET / HTTP/1.1\r\nX";
  std::size_t put = kept.size();
  auto end = verdict::need_more;
  while (end == verdict::need_more && put < 2000) {
    std::size_t used = 0;
    end = p.put(kept, used);
    kept.erase(0, used);
    kept += ": y\r\nX";
    put += 6;
  }
  CHECK(end == verdict::head_too_large);
  CHECK(put < 1020);
}

TEST_CASE("request_parser: HTTP/1.0 needs no Host and is not kept unless it asks") {
  const auto got = whole("GET / HTTP/1.0\r\n\r\n");
  CHECK(got.end == verdict::done);
  CHECK(!got.keep);
  CHECK(!whole("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").keep);
}

}  // namespace
