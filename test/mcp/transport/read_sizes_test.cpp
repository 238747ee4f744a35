// One conversation in reads of every awkward size, over a socket and over pipes, and a tool server's stderr. Meant for
// the asan preset.
#include "test/support/read_sizes.hpp"

#include "mcp/process/keeper/stderr_reader.hpp"
#include "mcp/transport/stream_transport.hpp"
#include "test/support/transport_recorder.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

namespace transport_read_sizes {

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::mcp::keepers;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;

// Returns messages that end next to the sizes of reads and buffers, noise, faults, CR LF, and half a line at the end.
std::string conversation() {
  std::string all = "\xEF\xBB\xBFstarting\n" + ping + "\r\n\n";
  for (const std::size_t size : awkward_sizes)
    if (size > 60) all += notification_of(size) + "\n" + ping + "\n";
  all += "{\"id\":1,\"result\":\"\x01\"}\n" + std::string(5000, '#') + "\n" + notification_of(70'000) + "\n";
  return all + "{\"jsonrpc\":\"2.0\",\"method\":\"half";
}

// Returns the events that `said` causes when it is read in pieces of this size.
std::string told(const std::string& said, std::size_t size, bool over_pipe) {
  const read_sizes cut(size);
  asio::io_context io{1};
  int ends[2];
  if (over_pipe)
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  else
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const int out = over_pipe ? ::open("/dev/null", O_WRONLY | O_CLOEXEC) : ends[0];
  recorder seen;
  std::string log;
  seen.on_each = [&](const message& m) { log += std::string(m.whole.text()) + "\n"; };
  auto t = make_stream_transport(io.get_executor(), ends[0], out, {.max_message_bytes = 69'000});
  t->start(seen);
  std::size_t sent = 0;
  while (sent < said.size()) {
    const auto n = ::write(ends[1], said.data() + sent, said.size() - sent);
    if (n > 0) sent += static_cast<std::size_t>(n);
    io.restart();
    io.poll();
  }
  ::close(ends[1]);
  io.restart();
  io.poll();
  CHECK(seen.closings == 1);
  for (const auto& f : seen.faults) log += "fault " + f.envelope.what + " " + std::to_string(f.bytes) + "\n";
  t.reset();
  io.restart();
  io.poll();
  return log;
}

TEST_CASE("stream transport: a conversation is the same in reads of any size") {
  const auto said = conversation();
  const auto whole = told(said, 1u << 20, false);
  CHECK(whole.size() > 200'000);
  CHECK(whole.find("larger than 69000 bytes") != std::string::npos);
  for (const bool over_pipe : {false, true}) {
    for (const std::size_t size : awkward_sizes) {
      CAPTURE(size);
      CHECK(told(said, size, over_pipe) == whole);
    }
    CHECK(told(said, 0, over_pipe) == whole);
  }
}

TEST_CASE("stderr: what a tool server prints is the same in reads of any size") {
  const auto said = conversation();
  for (const std::size_t size : awkward_sizes) {
    CAPTURE(size);
    const read_sizes cut(size);
    asio::io_context io{1};
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    std::string got;
    const auto reader =
        std::make_shared<stderr_reader>(io.get_executor(), ends[0], [&got](std::string_view bytes) { got += bytes; });
    reader->start();
    std::size_t sent = 0;
    while (sent < said.size()) {
      if (const auto n = ::write(ends[1], said.data() + sent, said.size() - sent); n > 0)
        sent += static_cast<std::size_t>(n);
      io.restart();
      io.poll();
    }
    ::close(ends[1]);
    io.restart();
    io.poll();
    CHECK(got == said);
    reader->close();
  }
}

}  // namespace transport_read_sizes
