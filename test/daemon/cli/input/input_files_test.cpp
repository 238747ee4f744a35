// Standard input beside a question.
#include "daemon/cli/input/input_files.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

using namespace mcpbx;
using namespace mcpbx::cli::input;
using namespace std::chrono_literals;

namespace {

// Puts another descriptor, which it takes over, in the place of standard input; -1 closes it. Restores it at the end.
class replaced_input {
 public:
  explicit replaced_input(int fd) : kept_(::fcntl(0, F_DUPFD_CLOEXEC, 3)) {
    if (fd >= 0)
      ::dup2(fd, 0);
    else
      ::close(0);
    if (fd >= 0) ::close(fd);
  }
  ~replaced_input() {
    if (kept_ >= 0)
      ::dup2(kept_, 0);
    else
      ::close(0);
    if (kept_ >= 0) ::close(kept_);
  }
  replaced_input(const replaced_input&) = delete;
  replaced_input& operator=(const replaced_input&) = delete;

 private:
  int kept_;
};

// A pipe or a pair of sockets.
struct channel {
  std::array<int, 2> ends{};
  static channel pipe() {
    channel c;
    REQUIRE(::pipe2(c.ends.data(), O_CLOEXEC) == 0);
    return c;
  }
  static channel sockets() {
    channel c;
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c.ends.data()) == 0);
    return c;
  }
  void send(std::string_view text) const {
    CHECK(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
};

// A file without a name that holds `text`, at its beginning.
int file_with(std::string_view text) {
  const int fd = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

std::string read_all(std::size_t most = 100) {
  const auto got = read_piped_input(most, 60s);
  return got ? *got : got.error().message;
}

}  // namespace

TEST_CASE("piped input: pipes, sockets and files are read to their end") {
  for (const auto& c : {channel::pipe(), channel::sockets()}) {
    const replaced_input replaced(c.ends[0]);
    c.send("some ");
    c.send("data\n");
    ::close(c.ends[1]);
    CHECK(read_all() == "some data\n");
  }
  const replaced_input replaced(file_with("a file"));
  CHECK(read_all() == "a file");
  CHECK(read_all() == "");
}

TEST_CASE("piped input: a writer that has begun is waited for, also by a descriptor that does not block") {
  const auto c = channel::pipe();
  ::fcntl(c.ends[0], F_SETFL, O_NONBLOCK);
  const replaced_input replaced(c.ends[0]);
  c.send("a");
  std::thread writer([&] {
    c.send("b");
    ::close(c.ends[1]);
  });
  CHECK(read_all() == "ab");
  writer.join();
}

TEST_CASE("piped input: devices and a closed input are none") {
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    const replaced_input replaced(::open(device, O_RDONLY | O_CLOEXEC));
    CHECK(read_all() == "");
  }
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0);
  {
    const replaced_input replaced(terminal);
    CHECK(read_all() == "");
  }
  {
    const replaced_input replaced(-1);
    CHECK(read_all() == "");
  }
  const auto c = channel::pipe();
  const replaced_input replaced(c.ends[1]);  // only for writing
  CHECK(read_all() == "");
  ::close(c.ends[0]);
}

TEST_CASE("piped input: a pipe that nobody writes to is given up after the wait, and too much is refused") {
  const auto c = channel::pipe();
  const replaced_input replaced(c.ends[0]);
  const auto nothing = read_piped_input(100, 1ms);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == errc::timed_out);
  c.send("12345");
  const auto much = read_piped_input(4, 1ms);
  REQUIRE_FALSE(much);
  CHECK(much.error().code == errc::limit);
  ::close(c.ends[1]);
}
