// Stream transports over socket pairs and pipes: order, chunking, closing from every place, the last words of a peer.
#include "mcp/transport/stream_transport.hpp"

#include "mcp/support/shared_bytes.hpp"
#include "mcp/transport/stream_core.hpp"
#include "test/mcp/async/pump.hpp"
#include "test/support/transport_recorder.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;

namespace {

struct socket_ends {
  int ours = -1, theirs = -1;
  socket_ends() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours = ends[0];
    theirs = ends[1];
    // The test's own end must not block when it writes more than fits.
    ::fcntl(theirs, F_SETFL, O_NONBLOCK);
  }
  ~socket_ends() { close_theirs(); }
  void close_theirs() {
    if (theirs >= 0) ::close(std::exchange(theirs, -1));
  }
  void write(std::string_view text) const {
    REQUIRE(::send(theirs, text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size()));
  }
  std::string read() const {
    std::string got(1 << 20, '\0');
    const auto n = ::recv(theirs, got.data(), got.size(), 0);
    got.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return got;
  }
};

struct fixture {
  asio::io_context io{1};
  socket_ends ends;
  recorder seen;
  std::unique_ptr<transport> t = make_stream_transport(io.get_executor(), ends.ours, ends.ours, {});
};

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

}  // namespace

TEST_CASE("messages arrive whole and in order however the bytes are cut") {
  const std::string text = ping + "\r\n" + R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})" + "\n" + ping + "\n";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    fixture f;
    f.t->start(f.seen);
    f.ends.write(text.substr(0, cut));
    run_ready(f.io);
    f.ends.write(text.substr(cut));
    run_until(f.io, [&] { return f.seen.messages.size() == 3; });
    CHECK(f.seen.messages[0] == ping);
    CHECK(f.seen.messages[1].find("tools/list") != std::string::npos);
    CHECK(f.seen.faults.empty());
  }
}

TEST_CASE("nothing is delivered inside start, and nothing before it") {
  fixture f;
  f.ends.write(ping + "\n");
  run_ready(f.io);
  CHECK(f.seen.messages.empty());
  f.t->start(f.seen);
  CHECK(f.seen.messages.empty());
  run_until(f.io, [&] { return f.seen.messages.size() == 1; });
}

TEST_CASE("messages sent in one turn leave in one write") {
  std::array<int, 2> ends{};
  // A packet socket shows where one write ends and the next begins.
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
  asio::io_context io(1);
  auto t = make_stream_transport(io.get_executor(), ends[0], ends[0], {});
  std::string expected;
  for (int i = 0; i < 32; ++i) {
    t->send(as_segments(ping), {});
    expected += ping + "\n";
  }
  CHECK(t->unsent() == expected.size());
  run_ready(io);
  CHECK(t->unsent() == 0);
  std::string got(10'000, '\0');
  got.resize(static_cast<std::size_t>(::recv(ends[1], got.data(), got.size(), 0)));
  CHECK(got == expected);
  ::close(ends[1]);
}

TEST_CASE("what is sent while messages are read leaves in that turn, in one write for each connection") {
  fixture from, to;
  struct passing final : recorder {
    void on_message(message&& m) override {
      to->send(as_segments(m.whole.text()), {});
      CHECK(unwritten->read().empty());  // not inside of send()
    }
    transport* to = nullptr;
    socket_ends* unwritten = nullptr;
  } passes;
  passes.to = to.t.get();
  passes.unwritten = &to.ends;
  from.t->start(passes);
  run_ready(from.io);
  from.ends.write(ping + "\n" + ping + "\n");
  from.io.restart();
  while (to.ends.read() != ping + "\n" + ping + "\n") REQUIRE(from.io.run_one() == 1);  // `to` has no turns
  // A message that is sent because the outbox is empty waits for a turn: a fast reader must not hold the thread.
  struct endless final : recorder {
    void on_drained() override { to->send(as_segments(ping), {}); }
    transport* to = nullptr;
  } again;
  again.to = to.t.get();
  to.t->start(again);
  from.ends.write(ping + "\n");
  run_ready(from.io);
  CHECK(to.ends.read() == ping + "\n");
  run_ready(to.io);
}

TEST_CASE("a connection may be dropped before the end of the turn in which was sent to it") {
  fixture from, to;
  struct dropping final : recorder {
    void on_message(message&&) override {
      if (!*to) return;
      (*to)->send(as_segments(ping), {});
      to->reset();
    }
    std::unique_ptr<transport>* to = nullptr;
  } drops;
  drops.to = &to.t;
  from.t->start(drops);
  from.ends.write(ping + "\n" + ping + "\n");
  run_ready(from.io);
  CHECK(to.t == nullptr);
  CHECK(to.ends.read().empty());
}

TEST_CASE("both ends of a transport may be different pipes") {
  std::array<int, 2> to{}, from{};
  REQUIRE(::pipe(to.data()) == 0);
  REQUIRE(::pipe(from.data()) == 0);
  asio::io_context io(1);
  recorder seen_a, seen_b;
  auto a = make_stream_transport(io.get_executor(), from[0], to[1], {});
  auto b = make_stream_transport(io.get_executor(), to[0], from[1], {});
  a->start(seen_a);
  b->start(seen_b);
  a->send(as_segments(ping), {});
  b->send(as_segments(ping), {});
  run_until(io, [&] { return seen_a.messages.size() == 1 && seen_b.messages.size() == 1; });
  CHECK((::fcntl(to[1], F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(from[0], F_GETFL) & O_NONBLOCK) != 0);
  a->finish_sending();
  run_until(io, [&] { return seen_b.closings == 1; });
  CHECK(seen_b.closed->code == errc::unavailable);
  CHECK(seen_a.closings == 0);
  b->send(as_segments(ping), {});  // the sending side outlives the end of the stream
  run_until(io, [&] { return seen_a.messages.size() == 2; });
  b.reset();
  run_until(io, [&] { return seen_a.closings == 1; });
  a.reset();
  for (int fd : {to[0], to[1], from[0], from[1]}) CHECK_FALSE(is_open(fd));
}

TEST_CASE("E1: a half-closed socket still takes answers when its user wants that, and its end is told") {
  struct patient : recorder {
    int input_ends = 0;
    bool on_input_end() override {
      ++input_ends;
      return true;
    }
  };
  asio::io_context io(1);
  socket_ends ends;
  patient seen;
  auto t = make_stream_transport(io.get_executor(), ends.ours, ends.ours, {});
  t->start(seen);
  ends.write(ping + "\n");
  REQUIRE(::shutdown(ends.theirs, SHUT_WR) == 0);
  run_until(io, [&] { return seen.input_ends == 1; });
  CHECK(seen.messages.size() == 1);
  t->pause_reading(true);
  t->pause_reading(false);
  t->send(as_segments(ping), {});
  run_until(io, [&] { return seen.drained == 1; });
  CHECK(ends.read() == ping + "\n");
  run_ready(io);
  CHECK(seen.closings == 0);
  SUBCASE("the peer goes altogether") {
    ends.close_theirs();
    run_until(io, [&] { return seen.closings == 1; });
    CHECK(seen.closed->code == errc::unavailable);
  }
  SUBCASE("the user closes it") {
    t->close();
    run_ready(io);
    CHECK(seen.closings == 0);
  }
  CHECK(seen.input_ends == 1);
}

TEST_CASE("G16: a socket that its peer closes altogether is not taken for a half-closed one") {
  struct asked : recorder {
    bool on_input_end() override {
      FAIL_CHECK("it is gone");
      return true;
    }
  };
  asio::io_context io(1);
  socket_ends ends;
  asked seen;
  auto t = make_stream_transport(io.get_executor(), ends.ours, ends.ours, {});
  t->start(seen);
  ends.close_theirs();
  run_until(io, [&] { return seen.closings == 1; });
}

TEST_CASE("a transport over one socket closes it once") {
  fixture f;
  const int fd = f.ends.ours;
  f.t->start(f.seen);
  run_ready(f.io);
  f.t->close();
  CHECK_FALSE(is_open(fd));
  const int again = ::open("/dev/null", O_RDONLY);  // takes the same number
  f.t.reset();
  run_ready(f.io);
  CHECK(is_open(again));
  ::close(again);
  CHECK(f.seen.closings == 0);
}

TEST_CASE("the end of the stream is told once and an unfinished line is a fault") {
  fixture f;
  f.t->start(f.seen);
  f.ends.write(ping + "\n" + ping.substr(0, 10));
  f.ends.close_theirs();
  run_until(f.io, [&] { return f.seen.closings > 0; });
  run_ready(f.io);
  CHECK(f.seen.closings == 1);
  CHECK(f.seen.closed->code == errc::unavailable);
  CHECK(f.seen.messages.size() == 1);
  REQUIRE(f.seen.faults.size() == 1);
  CHECK(f.seen.faults[0].type == message_fault::kind::malformed);
}

TEST_CASE("a message behind an unfinished close is not delivered: closing from inside a callback ends everything") {
  for (const bool destroy : {false, true}) {
    fixture f;
    f.t->start(f.seen);
    f.seen.on_each = [&](const message&) {
      if (f.seen.messages.size() != 2) return;
      if (destroy) {
        f.t.reset();
      } else {
        f.t->close();
      }
    };
    std::string text;
    for (int i = 0; i < 100; ++i) text += ping + "\n";
    f.ends.write(text + ping.substr(0, 5));
    run_until(f.io, [&] { return f.seen.messages.size() >= 2; });
    run_ready(f.io);
    CHECK(f.seen.messages.size() == 2);
    CHECK(f.seen.faults.empty());
    CHECK(f.seen.closings == 0);
  }
}

TEST_CASE("a transport may be destroyed inside on_closed") {
  struct closer : recorder {
    std::unique_ptr<transport>* t = nullptr;
    void on_closed(const error& why) override {
      recorder::on_closed(why);
      t->reset();
    }
  };
  fixture f;
  closer seen;
  seen.t = &f.t;
  f.t->start(seen);
  f.ends.close_theirs();
  run_until(f.io, [&] { return seen.closings == 1; });
  run_ready(f.io);
  CHECK(f.t == nullptr);
}

TEST_CASE("G1: a peer's last answer before it went is not lost to a failing write") {
  fixture f;
  f.t->start(f.seen);
  run_ready(f.io);
  // The peer answers and exits; we learn of it by a write that fails before we read.
  f.ends.write(ping + "\n");
  f.ends.close_theirs();
  f.t->send(as_segments(ping), {});
  run_until(f.io, [&] { return f.seen.closings == 1; });
  CHECK(f.seen.messages.size() == 1);
  CHECK(f.seen.faults.empty());
}

TEST_CASE("G5: a peer that closed only its stdin ends the connection") {
  std::array<int, 2> to{}, from{};
  REQUIRE(::pipe(to.data()) == 0);
  REQUIRE(::pipe(from.data()) == 0);
  ::signal(SIGPIPE, SIG_IGN);
  asio::io_context io(1);
  recorder seen;
  auto t = make_stream_transport(io.get_executor(), from[0], to[1], {});
  t->start(seen);
  run_ready(io);
  ::close(to[0]);
  t->send(as_segments(ping), {});
  run_until(io, [&] { return seen.closings == 1; });
  CHECK(seen.closed->code == errc::io);
  CHECK(seen.closed->message == "writing: Broken pipe");
  CHECK(t->unsent() == 0);
  ::close(from[1]);
}

TEST_CASE("a peer that has closed its stdin cannot keep the connection by talking") {
  std::array<int, 2> to{}, from{};
  REQUIRE(::pipe(to.data()) == 0);
  REQUIRE(::pipe(from.data()) == 0);
  ::signal(SIGPIPE, SIG_IGN);
  ::fcntl(from[1], F_SETFL, O_NONBLOCK);
  asio::io_context io(1);
  recorder seen;
  auto t = make_stream_transport(io.get_executor(), from[0], to[1], {});
  std::string flood;
  while (flood.size() < 65536) flood += ping + "\n";
  // Refills the pipe from inside, so that it never runs empty.
  seen.on_each = [&](const message&) { (void)!::write(from[1], flood.data(), flood.size()); };
  (void)!::write(from[1], flood.data(), flood.size());
  t->start(seen);
  ::close(to[0]);
  t->send(as_segments(ping), {});
  run_until(io, [&] { return seen.closings == 1; });
  CHECK(seen.closed->code == errc::io);
  ::close(from[1]);
}

TEST_CASE("what is queued leaves before finish_sending ends the stream") {
  fixture f;
  f.t->send(as_segments(ping), {});
  f.t->finish_sending();
  f.t->send(as_segments(ping), {});  // too late, dropped
  run_ready(f.io);
  CHECK(f.ends.read() == ping + "\n");
  CHECK(f.ends.read().empty());
  f.t->start(f.seen);
  f.ends.write(ping + "\n");
  run_until(f.io, [&] { return f.seen.messages.size() == 1; });
}

TEST_CASE("a paused transport reads nothing until it is resumed") {
  fixture f;
  f.t->start(f.seen);
  run_ready(f.io);
  f.t->pause_reading(true);
  f.ends.write(ping + "\n");
  f.ends.close_theirs();
  run_ready(f.io);
  run_ready(f.io);
  CHECK(f.seen.messages.empty());
  CHECK(f.seen.closings == 0);
  f.t->pause_reading(false);
  run_until(f.io, [&] { return f.seen.closings == 1; });
  CHECK(f.seen.messages.size() == 1);
}

TEST_CASE("a file can be read like a stream") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  for (int i = 0; i < 3000; ++i) std::fputs((ping + "\n").c_str(), file);
  std::fflush(file);
  const int fd = ::dup(::fileno(file));
  std::fclose(file);
  ::lseek(fd, 0, SEEK_SET);
  asio::io_context io(1);
  recorder seen;
  auto t = make_stream_transport(io.get_executor(), fd, ::open("/dev/null", O_WRONLY), {});
  t->start(seen);
  t->send(as_segments(ping), {});
  run_until(io, [&] { return seen.closings == 1; });
  CHECK(seen.messages.size() == 3000);
  CHECK(seen.closed->code == errc::unavailable);
}

TEST_CASE("draining reads what is there, paused or not, and says when nothing is left") {
  std::array<int, 2> from{}, to{};
  REQUIRE(::pipe(from.data()) == 0);
  REQUIRE(::pipe(to.data()) == 0);
  asio::io_context io(1);
  recorder seen;
  auto core = std::make_shared<stream_core>(io.get_executor(), from[0], to[1], line_framer::options{});
  core->start(seen);
  run_ready(io);
  core->pause_reading(true);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += ping + "\n";
  REQUIRE(::write(from[1], text.data(), text.size()) == ssize_t(text.size()));
  std::size_t at_the_end = 0;
  core->drain([&] { at_the_end = seen.messages.size(); });
  run_until(io, [&] { return at_the_end != 0; });
  CHECK(at_the_end == 1000);
  // A stream that has ended is drained too.
  ::close(from[1]);
  core->pause_reading(false);
  run_until(io, [&] { return seen.closings == 1; });
  bool again = false;
  core->drain([&] { again = true; });
  CHECK_FALSE(again);
  run_ready(io);
  CHECK(again);
  // So is a stream that its user closed while it was being drained.
  bool third = false;
  core->drain([&] { third = true; });
  core->close();
  run_ready(io);
  CHECK(third);
  ::close(to[0]);
}

TEST_CASE("messages that are held leave together when they are released and not before") {
  fixture f;
  f.t->start(f.seen);
  f.t->hold_writes();
  f.t->send(as_segments(ping), {});
  f.t->send(as_segments(ping), {});
  run_ready(f.io);
  CHECK(f.ends.read().empty());
  CHECK(f.t->unsent() == 2 * ping.size() + 2);
  f.t->release_writes();
  CHECK(f.ends.read() == ping + "\n" + ping + "\n");  // without a turn
  CHECK(f.seen.drained == 1);
  f.t->send(as_segments(ping), {});
  CHECK(f.ends.read().empty());
  run_ready(f.io);
  CHECK(f.ends.read() == ping + "\n");
  f.t->hold_writes();
  f.t->release_writes();  // nothing waits
  CHECK(f.seen.drained == 2);
}

TEST_CASE("a transport may be dropped when released messages have left") {
  fixture f;
  struct dropping final : recorder {
    void on_drained() override { t->reset(); }
    std::unique_ptr<transport>* t = nullptr;
  } seen;
  seen.t = &f.t;
  f.t->start(seen);
  f.t->hold_writes();
  f.t->send(as_segments(ping), {});
  f.t->release_writes();
  CHECK(f.t == nullptr);
  CHECK(f.ends.read() == ping + "\n");
}
