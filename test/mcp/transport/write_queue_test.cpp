// The outbox: pieces that are copied, pieces kept by reference, and the account of every byte.
#include "mcp/transport/write_queue.hpp"

#include "mcp/support/shared_bytes.hpp"
#include "test/support/transport_recorder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;

namespace {

std::string take(write_queue& q, std::size_t step, std::size_t iovecs = 64) {
  std::string out;
  while (!q.empty()) {
    std::array<iovec, 64> v;
    const auto n = q.gather(v.data(), iovecs);
    std::string round;
    for (std::size_t i = 0; i < n; ++i) {
      REQUIRE(v[i].iov_len > 0);
      round.append(static_cast<const char*>(v[i].iov_base), v[i].iov_len);
    }
    round.resize(std::min(round.size(), step));
    q.consume(round.size());
    out += round;
  }
  return out;
}

}  // namespace

TEST_CASE("an outbox gives back what was pushed with a line break after each message, at every step size") {
  const std::string small = R"({"a":1})", large = notification_of(5000), huge = notification_of(70'000);
  std::string expected;
  for (std::size_t step : {1, 2, 7, 1000, 4096, 100'000}) {
    write_queue q;
    expected.clear();
    for (const auto* text : {&small, &large, &small, &small, &huge, &small}) {
      q.push(as_segments(*text));
      expected += *text + '\n';
    }
    CHECK(q.size() == expected.size());
    CHECK(take(q, step) == expected);
    CHECK(q.size() == 0);
  }
}

TEST_CASE("small messages share few iovecs") {
  write_queue q;
  for (int i = 0; i < 32; ++i) q.push(as_segments(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  std::array<iovec, 64> v;
  CHECK(q.gather(v.data(), v.size()) == 1);
  q.clear();
}

TEST_CASE("a large piece is kept by reference and not copied") {
  const auto piece = raw_json::own(notification_of(100'000));
  const auto base = byte_account::total();
  segments s;
  s.append(piece);
  write_queue q;
  q.push(s);
  CHECK(byte_account::total() == base + 1);  // the line break
  std::array<iovec, 64> v;
  CHECK(q.gather(v.data(), v.size()) == 2);
  CHECK(v[0].iov_base == piece.text().data());
  q.clear();
  CHECK(byte_account::total() == base);
}

TEST_CASE("an outbox counts its bytes and lets go of all of them") {
  const auto base = byte_account::total();
  {
    write_queue q;
    for (int i = 0; i < 1000; ++i) q.push(as_segments(notification_of(100)));
    CHECK(byte_account::total() == base + 101'000);
    q.consume(q.size() / 2);
    CHECK(q.size() == 50'500);
  }
  CHECK(byte_account::total() == base);
}

TEST_CASE("gather honours the number of iovecs it may fill") {
  write_queue q;
  for (int i = 0; i < 10; ++i) q.push(as_segments(notification_of(5000)));
  const auto expected = (notification_of(5000) + '\n').size() * 10;
  CHECK(take(q, 1'000'000, 3).size() == expected);
}
