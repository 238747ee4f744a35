// The buffer of a connection: room for reads, parts of a body moved together, and that nothing of an answer stays.
#include "mcp/http/client/answer_buffer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx::http::clients;

void put(answer_buffer& b, std::string_view text, bool begun = false) {
  const auto room = b.room(begun);
  REQUIRE(room.size() >= text.size());
  std::memcpy(room.data(), text.data(), text.size());
  b.came(text.size());
}

bool all_zero(std::span<const char> bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c == 0; });
}

}  // namespace

TEST_CASE("answer buffer: the first read of an answer is short, later ones fill what there is") {
  answer_buffer b;
  CHECK(b.room(false).size() == answer_buffer::first_read);
  answer_buffer later;
  CHECK(later.room(true).size() == answer_buffer::first);
  later.came(answer_buffer::first);
  later.parsed(answer_buffer::first);
  later.widen();
  CHECK(later.room(true).size() == 2 * answer_buffer::first);
  CHECK(later.room(false).size() == answer_buffer::first_read);
}

TEST_CASE(
    "answer buffer: bytes that are not parsed yet move to the front, and a line beyond the buffer makes it grow") {
  answer_buffer b;
  put(b, "parsed, rest");
  b.parsed(8);
  CHECK(b.unparsed() == "rest");
  CHECK(b.room(true).size() == answer_buffer::idle - 4);
  CHECK(b.unparsed() == "rest");
  put(b, std::string(answer_buffer::idle - 4, 'x'), true);
  CHECK(b.room(true).size() == answer_buffer::idle);
  CHECK(b.unparsed() == "rest" + std::string(answer_buffer::idle - 4, 'x'));
  b.widen();  // there is something to parse
  CHECK(b.size() == 2 * answer_buffer::idle);
}

TEST_CASE("answer buffer: the chunks of one read are one body") {
  answer_buffer b;
  put(b, "3\r\nabc\r\n2\r\nde\r\n");
  b.begin_parse();
  CHECK(b.take_body().empty());
  const auto all = b.unparsed();
  b.join(all.substr(3, 3));
  b.join(all.substr(11, 2));
  b.parsed(15);
  CHECK(b.take_body() == "abcde");
  CHECK(b.take_body().empty());
  CHECK(b.empty());
}

TEST_CASE("answer buffer: nothing of an answer stays in memory when the connection comes to rest") {
  answer_buffer b;
  const std::string secret = "Set-Cookie: session=do-not-keep-me\r\n";
  put(b, secret);
  put(b, secret, true);
  b.parsed(2 * secret.size());
  b.rest();
  CHECK(b.size() == answer_buffer::idle);
  CHECK(all_zero(b.room(false)));

  put(b, std::string(answer_buffer::idle, 's'));
  b.parsed(answer_buffer::idle);
  b.widen();
  put(b, std::string(2 * answer_buffer::idle, 's'), true);
  b.parsed(2 * answer_buffer::idle);
  b.rest();
  CHECK(b.size() == 2 * answer_buffer::idle);
  CHECK(all_zero(b.room(true)));
}

TEST_CASE("answer buffer: a large buffer is given back at rest") {
  answer_buffer b;
  put(b, std::string(answer_buffer::first, 'x'), true);
  b.parsed(answer_buffer::first);
  b.widen();
  b.rest();
  CHECK(b.size() == 0);
  CHECK(b.room(false).size() == answer_buffer::first_read);
}

TEST_CASE("a text with a secret is overwritten before it is emptied") {
  std::string text = "Authorization: Bearer a-secret-of-some-length";
  const std::span<const char> was(text.data(), text.size());
  wipe(text);
  CHECK(text.empty());
  CHECK(all_zero(was));
}
