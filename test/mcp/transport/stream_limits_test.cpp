// Limits of stream transports: large messages pass, slow readers cost no more than the queued bytes, and all memory is
// returned (G11, G17).
#include "mcp/support/shared_bytes.hpp"
#include "mcp/transport/stream_transport.hpp"
#include "test/mcp/async/pump.hpp"
#include "test/support/transport_recorder.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;

namespace {

struct connected {
  asio::io_context io{1};
  recorder seen_a, seen_b;
  std::unique_ptr<transport> a, b;
  explicit connected(bool pipes, line_framer::options framing = {}) {
    std::array<int, 2> x{}, y{};
    if (pipes) {
      REQUIRE(::pipe(x.data()) == 0);
      REQUIRE(::pipe(y.data()) == 0);
      a = make_stream_transport(io.get_executor(), y[0], x[1], framing);
      b = make_stream_transport(io.get_executor(), x[0], y[1], framing);
    } else {
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, x.data()) == 0);
      a = make_stream_transport(io.get_executor(), x[0], x[0], framing);
      b = make_stream_transport(io.get_executor(), x[1], x[1], framing);
    }
    seen_b.keep_texts = false;
    a->start(seen_a);
    b->start(seen_b);
  }
};

}  // namespace

TEST_CASE("messages of every power of two up to 16 MiB, and one byte around, pass through pipes and sockets") {
  const auto base = byte_account::total();
  for (const bool pipes : {true, false}) {
    connected c(pipes);
    std::size_t count = 0, bytes = 0;
    for (std::size_t size = 64; size <= (16u << 20); size *= 2) {
      for (const std::size_t exact : {size - 1, size, size + 1}) {
        c.a->send(as_segments(notification_of(exact)), {});
        ++count;
        bytes += exact;
      }
      run_until(c.io, [&] { return c.seen_b.messages.size() == count; });
    }
    CHECK(c.seen_b.message_bytes == bytes);
    CHECK(c.seen_b.faults.empty());
    CHECK(c.a->unsent() == 0);
    CHECK(c.seen_a.drained > 0);
    // Neither end holds anything any more: the memory is returned (G11).
    CHECK(byte_account::total() == base);
  }
  CHECK(byte_account::total() == base);
}

TEST_CASE("G17: a reader that does not read costs what is queued, and is told apart by unsent") {
  const auto base = byte_account::total();
  connected c(false);
  c.b->pause_reading(true);
  const std::string text = notification_of(1000);
  for (int i = 0; i < 8000; ++i) c.a->send(as_segments(text), {});
  run_ready(c.io);
  run_ready(c.io);
  const auto stuck = c.a->unsent();
  CHECK(stuck > 6'000'000);
  CHECK(byte_account::total() - base < stuck + 64 * 1024);
  const int drained_before = c.seen_a.drained;
  c.b->pause_reading(false);
  run_until(c.io, [&] { return c.seen_b.messages.size() == 8000; });
  CHECK(c.a->unsent() == 0);
  CHECK(c.seen_a.drained == drained_before + 1);
  CHECK(byte_account::total() == base);
}

TEST_CASE("the kernel's buffer of a connection grows with its first large message, and small ones leave it alone") {
  for (const bool pipe : {false, true}) {
    asio::io_context io{1};
    recorder seen;
    std::array<int, 2> ends{};
    REQUIRE((pipe ? ::pipe(ends.data()) : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data())) == 0);
    const int out = pipe ? ends[1] : ends[0], other = pipe ? ends[0] : ends[1];
    const auto buffer = [&] {
      if (pipe) return ::fcntl(out, F_GETPIPE_SZ);
      int size = 0;
      socklen_t length = sizeof size;
      REQUIRE(::getsockopt(out, SOL_SOCKET, SO_SNDBUF, &size, &length) == 0);
      return size;
    };
    const int in = pipe ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : out;
    auto t = make_stream_transport(io.get_executor(), in, out, {});
    const int before = buffer();
    t->send(as_segments(notification_of(30'000)), {});
    run_ready(io);
    CHECK(t->unsent() == 0);
    CHECK(buffer() == before);
    t->send(as_segments(notification_of(2u << 20)), {});
    run_ready(io);
    CHECK(t->unsent() > 0);
    CHECK(buffer() > before);
    t.reset();
    ::close(other);
  }
}

TEST_CASE("G17: the kernel's buffers of 64 sockets grow, and that of another one when one of them has closed") {
  asio::io_context io{1};
  std::vector<std::unique_ptr<transport>> all;
  std::vector<int> others;
  const auto grows = [&] {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    others.push_back(ends[1]);
    const auto size = [&] {
      int bytes = 0;
      socklen_t length = sizeof bytes;
      REQUIRE(::getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, &length) == 0);
      return bytes;
    };
    const int before = size();
    all.push_back(make_stream_transport(io.get_executor(), ends[0], ends[0], {}));
    all.back()->send(as_segments(notification_of(400'000)), {});
    run_ready(io);
    return size() > before;
  };
  for (int i = 0; i < 64; ++i) CHECK(grows());
  CHECK_FALSE(grows());
  all.erase(all.begin());
  run_ready(io);
  CHECK(grows());
  all.clear();
  run_ready(io);
  for (const int fd : others) ::close(fd);
}

TEST_CASE("closing drops what was not written and gives its bytes back") {
  const auto base = byte_account::total();
  connected c(true);
  c.b->pause_reading(true);
  for (int i = 0; i < 3000; ++i) c.a->send(as_segments(notification_of(1000)), {});
  run_ready(c.io);
  CHECK(byte_account::total() > base);
  c.a->close();
  CHECK(c.a->unsent() == 0);
  c.a->send(as_segments(ping), {});
  CHECK(c.a->unsent() == 0);
  c.b->close();
  run_ready(c.io);
  CHECK(byte_account::total() == base);
}

TEST_CASE("an unfinished message is let go with its connection") {
  const auto base = byte_account::total();
  connected c(false);
  const std::string half = notification_of(4u << 20);
  bool sent = false;
  c.seen_a.on_each = [](const message&) {};
  c.a->send(as_segments(half), {});
  run_until(c.io, [&] { return byte_account::total() > base + (2u << 20); });
  c.b->close();
  c.a->close();
  run_ready(c.io);
  CHECK(byte_account::total() == base);
  CHECK_FALSE(sent);
}

TEST_CASE("G11: a line over the limit is refused while it comes and the connection goes on") {
  line_framer::options framing;
  framing.max_message_bytes = 1u << 20;
  connected c(true, framing);
  const auto base = byte_account::total();
  std::size_t most = 0;
  c.a->send(as_segments(notification_of(8u << 20)), {});
  const auto queued = c.a->unsent();
  c.a->send(as_segments(ping), {});
  run_until(c.io, [&] {
    most = std::max(most, byte_account::total() - base);
    return c.seen_b.messages.size() == 1;
  });
  REQUIRE(c.seen_b.faults.size() == 1);
  CHECK(c.seen_b.faults[0].type == message_fault::kind::oversized);
  // Beside the sender's own copy, never more than twice the limit is held.
  CHECK(most <= queued + (2u << 20));
  CHECK(byte_account::total() == base);
}

TEST_CASE("G10: a peer that floods leaves turns for its neighbours") {
  asio::io_context io(1);
  std::array<int, 2> flood{}, calm{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, flood.data()) == 0);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, calm.data()) == 0);
  recorder seen_flood, seen_calm;
  seen_flood.keep_texts = false;
  auto a = make_stream_transport(io.get_executor(), flood[0], flood[0], {});
  auto b = make_stream_transport(io.get_executor(), calm[0], calm[0], {});
  std::string block;
  while (block.size() < 60'000) block += ping + "\n";
  auto refill = [&] { (void)!::send(flood[1], block.data(), block.size(), MSG_NOSIGNAL); };
  for (int i = 0; i < 3; ++i) refill();
  // Every message of the flood brings more of it: this peer's socket never runs empty.
  seen_flood.on_each = [&](const message&) {
    if (seen_flood.messages.size() % 500 == 0) refill();
  };
  a->start(seen_flood);
  b->start(seen_calm);
  const std::string line = ping + "\n";
  REQUIRE(::send(calm[1], line.data(), line.size(), MSG_NOSIGNAL) == ssize_t(line.size()));
  int turns = 0;
  while (seen_calm.messages.empty() && turns < 100) {
    io.restart();
    io.run_one();
    ++turns;
  }
  CHECK(turns < 20);
  ::close(flood[1]);
  ::close(calm[1]);
}
