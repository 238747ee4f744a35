// The frames between daemon and keeper, and the channel that carries them and descriptors.
#include "mcp/process/keeper/keeper_protocol.hpp"

#include "mcp/process/keeper/control_channel.hpp"
#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::keepers;
using namespace mcpbx::mcp::keepers::keeper_protocol;
using namespace mcpbx::mcp::process;

namespace {

std::string payload(const std::string& frame) {
  return frame.substr(4);
}

spawn sample_spawn() {
  spawn s;
  s.server = 0x123456789abcdef0;
  s.spec = {"files", {"npx", "-y", "", "a b\n;$(x)"}, {"PATH=/bin", "EMPTY="}, "/home/somebody", true};
  return s;
}

}  // namespace

TEST_CASE("every request and notice survives its frame") {
  auto r = decode_request(payload(encode(request(sample_spawn()))));
  REQUIRE(r);
  const auto& s = std::get<spawn>(*r);
  CHECK(s.server == 0x123456789abcdef0);
  CHECK(s.spec.name == "files");
  CHECK(s.spec.argv == sample_spawn().spec.argv);
  CHECK(s.spec.environment == sample_spawn().spec.environment);
  CHECK(s.spec.directory == "/home/somebody");
  CHECK(s.spec.keep_orphans);

  auto g = decode_request(payload(encode(request(send_signal{7, 15}))));
  REQUIRE(g);
  CHECK(std::get<send_signal>(*g).server == 7);
  CHECK(std::get<send_signal>(*g).number == 15);

  auto a = decode_notice(payload(encode(notice(spawned{7, 4711}))));
  REQUIRE(a);
  CHECK(std::get<spawned>(*a).pid == 4711);
  auto b = decode_notice(payload(encode(notice(spawn_failed{7, {errc::not_found, "no such program"}}))));
  REQUIRE(b);
  CHECK(std::get<spawn_failed>(*b).why.code == errc::not_found);
  CHECK(std::get<spawn_failed>(*b).why.message == "no such program");
  auto c = decode_notice(payload(encode(notice(exited{7, {true, 9}}))));
  REQUIRE(c);
  CHECK(std::get<exited>(*c).how.signalled);
  CHECK(std::get<exited>(*c).how.value == 9);
}

TEST_CASE("a truncated, lengthened or unknown payload is refused") {
  const std::string whole = payload(encode(request(sample_spawn())));
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(decode_request(whole.substr(0, size)));
  CHECK_FALSE(decode_request(whole + "x"));
  CHECK_FALSE(decode_request("\x63"));
  CHECK_FALSE(decode_notice(whole));
  CHECK_FALSE(decode_notice(""));
}

TEST_CASE("frames are cut out of a stream at every split") {
  const std::string text = encode(request(sample_spawn())) + encode(request(send_signal{1, 2}));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    frame_reader reader;
    int frames = 0;
    auto take = [&] {
      while (const auto p = reader.next()) frames += decode_request(*p).has_value();
    };
    reader.feed(std::string_view(text).substr(0, cut));
    take();
    reader.feed(std::string_view(text).substr(cut));
    take();
    CHECK(frames == 2);
    CHECK_FALSE(reader.broken());
  }
}

TEST_CASE("frames are the same in pieces of any size") {
  std::string text;
  for (const std::size_t size : test::awkward_sizes) {
    auto one = sample_spawn();
    one.server = size;
    one.spec.environment.assign(1, test::filler_words(size));
    text += encode(request(one)) + encode(request(send_signal{size, 2}));
  }
  test::check_in_any_pieces(text + "half", [](std::string_view bytes, std::size_t size) {
    frame_reader reader;
    std::string all;
    test::in_pieces(bytes, size, [&](std::string_view piece) {
      reader.feed(piece);
      while (const auto p = reader.next()) all.append(std::to_string(p->size())).append(*p);
    });
    return all + (reader.broken() ? "broken" : "");
  });
}

TEST_CASE("a frame of impossible size breaks the stream") {
  frame_reader reader;
  reader.feed("\xff\xff\xff\x7f....");
  CHECK_FALSE(reader.next());
  CHECK(reader.broken());
}

TEST_CASE("descriptors arrive with their frames and a large frame passes in parts") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  {
    control_channel a(ends[0]), b(ends[1]);
    spawn big = sample_spawn();
    big.spec.environment.assign(1, "BIG=" + std::string(1 << 20, 'x'));
    std::array<int, 2> one{}, two{};
    REQUIRE(::pipe(one.data()) == 0);
    REQUIRE(::pipe(two.data()) == 0);
    a.send(encode(request(send_signal{1, 1})));
    a.send(encode(notice(spawned{2, 2})), {one[0]});
    a.send(encode(request(big)));
    a.send(encode(notice(spawned{3, 3})), {two[0], two[1]});
    std::vector<std::size_t> sizes;
    while (sizes.size() < 4) {
      REQUIRE(a.flush());
      REQUIRE(b.receive());
      while (const auto frame = b.next_frame()) sizes.push_back(frame->size());
    }
    CHECK_FALSE(a.wants_to_write());
    CHECK(sizes[2] > (1u << 20));
    const auto first = b.take_descriptors();
    const auto second = b.take_descriptors();
    REQUIRE(first.size() == 1);
    REQUIRE(second.size() == 2);
    CHECK(::write(one[1], "1", 1) == 1);
    char c = 0;
    CHECK(::read(first[0], &c, 1) == 1);
    CHECK(c == '1');
    for (int fd : {one[1], first[0], second[0], second[1]}) ::close(fd);
    CHECK(b.take_descriptors().empty());
    ::close(ends[0]);
    CHECK_FALSE(b.receive());
  }
  ::close(ends[1]);
}

TEST_CASE("an exit reads as words") {
  CHECK(process_exit{false, 3}.text() == "exit status 3");
  CHECK(process_exit{true, 9}.text() == "signal 9 (SIGKILL)");
  CHECK(process_exit{true, 15}.text() == "signal 15 (SIGTERM)");
}
