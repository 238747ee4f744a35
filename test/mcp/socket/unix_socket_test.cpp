// G42: the local socket is private from the first moment, one daemon wins, and a live one is never robbed.
#include "mcp/socket/unix_socket.hpp"

#include "mcp/support/error.hpp"
#include "test/mcp/async/pump.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::mcp::socket;
using namespace mcpbx::test;

namespace {

// For tests in which time plays no part.
manual_time still;

mode_t mode_of(const std::string& path) {
  struct stat s{};
  return ::stat(path.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
}

// A socket file as a daemon that was killed leaves it behind; with `listening` one that lives but holds no lock.
int plain_socket(const std::string& path, bool listening) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.data(), path.size());
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0);
  if (listening) REQUIRE(::listen(fd, 5) == 0);
  return fd;
}

}  // namespace

TEST_CASE("G42: a missing directory is made 0700 and the socket 0600, whatever the umask") {
  temporary_directory d;
  asio::io_context io(1);
  const mode_t before = ::umask(0);
  const std::string path = d / "a/b/mcpbx.sock";
  auto l = unix_listener::open(io.get_executor(), still, path);
  ::umask(before);
  REQUIRE(l);
  CHECK(mode_of(d / "a") == 0700);
  CHECK(mode_of(d / "a/b") == 0700);
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(path + ".lock") == 0600);
}

TEST_CASE("opening leaves the umask as it was") {
  temporary_directory d;
  asio::io_context io(1);
  const mode_t before = ::umask(0027);
  auto l = unix_listener::open(io.get_executor(), still, d / "s");
  CHECK(::umask(before) == 0027);
}

TEST_CASE("G42: callers of our own uid are accepted with their pid, and closing removes the file") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  auto l = unix_listener::open(io.get_executor(), still, path);
  REQUIRE(l);
  std::vector<peer_credentials> peers;
  (*l)->start([&](int fd, peer_credentials who) {
    CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    peers.push_back(who);
    ::close(fd);
  });
  const auto a = connect_unix(path);
  const auto b = connect_unix(path);
  REQUIRE(a);
  REQUIRE(b);
  run_until(io, [&] { return peers.size() == 2; });
  CHECK(peers[0].uid == ::geteuid());
  CHECK(peers[0].pid == ::getpid());
  ::close(*a);
  ::close(*b);
  (*l)->close();
  CHECK(mode_of(path) == 0);
  const auto none = connect_unix(path);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::unavailable);
  CHECK(none.error().message == "no daemon listens at " + path);
}

TEST_CASE("a listener may be destroyed inside its own handler") {
  temporary_directory d;
  asio::io_context io(1);
  auto opened = unix_listener::open(io.get_executor(), still, d / "s");
  REQUIRE(opened);
  auto l = std::move(*opened);
  int calls = 0;
  auto payload = std::make_shared<int>(1);
  l->start([&, payload](int fd, peer_credentials) {
    ::close(fd);
    l.reset();
    calls += *payload;
  });
  const auto a = connect_unix(d / "s");
  const auto b = connect_unix(d / "s");
  run_until(io, [&] { return calls > 0; });
  run_ready(io);
  CHECK(calls == 1);
  ::close(a.value());
  ::close(b.value());
}

TEST_CASE("G42: a directory that others may write to is refused") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string open_one = d / "open";
  REQUIRE(::mkdir(open_one.c_str(), 0700) == 0);
  for (const mode_t mode : {0770, 0707, 01777}) {
    ::chmod(open_one.c_str(), mode);
    auto l = unix_listener::open(io.get_executor(), still, open_one + "/s");
    REQUIRE_FALSE(l);
    CHECK(l.error().message.find("others may write to the directory") != std::string::npos);
    CHECK(mode_of(open_one + "/s.lock") == 0);
  }
}

TEST_CASE("G42: a directory of somebody else is refused") {
  asio::io_context io(1);
  if (::geteuid() != 0) {
    auto l = unix_listener::open(io.get_executor(), still, "/usr/mcpbx-test.sock");
    REQUIRE_FALSE(l);
    CHECK(l.error().message.find("belongs to user") != std::string::npos);
    return;
  }
  temporary_directory d;
  const std::string theirs = d / "theirs";
  REQUIRE(::mkdir(theirs.c_str(), 0700) == 0);
  REQUIRE(::chown(theirs.c_str(), 12345, 12345) == 0);
  auto l = unix_listener::open(io.get_executor(), still, theirs + "/s");
  REQUIRE_FALSE(l);
  CHECK(l.error().message.find("belongs to user 12345") != std::string::npos);
}

TEST_CASE("G42: a caller of another uid is closed before it is told of") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can become somebody else");
    return;
  }
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  auto l = unix_listener::open(io.get_executor(), still, path);
  REQUIRE(l);
  std::vector<pid_t> told;
  (*l)->start([&](int fd, peer_credentials who) {
    told.push_back(who.pid);
    ::close(fd);
  });
  ::chmod(d.path().c_str(), 0755);
  ::chmod(path.c_str(), 0666);  // as if the mode had been lost
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    if (::setresgid(12345, 12345, 12345) != 0 || ::setresuid(12345, 12345, 12345) != 0) ::_exit(9);
    const auto fd = connect_unix(path);
    char c = 0;
    // Connected by the kernel, then closed without an answer.
    ::_exit(fd && ::read(*fd, &c, 1) <= 0 ? 0 : 1);
  }
  int status = -1;
  run_until(io, [&] { return ::waitpid(stranger, &status, WNOHANG) == stranger; });
  CHECK(status == 0);
  CHECK(told.empty());
}

TEST_CASE("G42: a second listener is told that a daemon runs") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  auto first = unix_listener::open(io.get_executor(), still, path);
  REQUIRE(first);
  auto second = unix_listener::open(io.get_executor(), still, path);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == errc::unavailable);
  CHECK(second.error().message ==
        "a daemon already runs at " + path + ": use that one, or end it with `mcpbx --socket " + path + " stop`");
  first->reset();
  auto third = unix_listener::open(io.get_executor(), still, path);
  CHECK(third);
}

TEST_CASE("G42: a listener that has closed holds its lock until its end: a second one is told that it is stopping") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  auto first = unix_listener::open(io.get_executor(), still, path);
  REQUIRE(first);
  (*first)->close();
  CHECK(mode_of(path) == 0);
  auto second = unix_listener::open(io.get_executor(), still, path);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == errc::unavailable);
  CHECK(second.error().message == "a daemon that is starting or stopping already holds " + path +
                                      ".lock: try again when it has ended, within 10 s");
  first->reset();
  CHECK(unix_listener::open(io.get_executor(), still, path));
}

TEST_CASE("G42: what fails between lock and socket ends the opening, and nobody has seen a socket") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  bool seen = true;
  const auto failed = unix_listener::open(io.get_executor(), still, path, [&]() -> result<void> {
    seen = connect_unix(path).has_value();
    return fail(errc::io, "no port");
  });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "no port");
  CHECK_FALSE(seen);
  CHECK(mode_of(path) == 0);
  CHECK(unix_listener::open(io.get_executor(), still, path));
}

TEST_CASE("G42: a stale socket is replaced, a live one without a lock is not") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  ::close(plain_socket(path, false));
  {
    auto l = unix_listener::open(io.get_executor(), still, path);
    REQUIRE(l);
    CHECK(mode_of(path) == 0600);
  }
  const int live = plain_socket(path, true);
  auto l = unix_listener::open(io.get_executor(), still, path);
  REQUIRE_FALSE(l);
  CHECK(l.error().code == errc::unavailable);
  CHECK(connect_unix(path));
  ::close(live);
}

TEST_CASE("a file that is no socket is left alone") {
  temporary_directory d;
  asio::io_context io(1);
  const auto path = d.write("s", "precious");
  auto l = unix_listener::open(io.get_executor(), still, path);
  REQUIRE_FALSE(l);
  CHECK(l.error().message.find("is not a socket") != std::string::npos);
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("closing leaves a socket that somebody else put in our place") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  auto l = unix_listener::open(io.get_executor(), still, path);
  REQUIRE(l);
  REQUIRE(::unlink(path.c_str()) == 0);
  const int other = plain_socket(path, true);
  l->reset();
  CHECK(connect_unix(path));
  ::close(other);
}

TEST_CASE("a path of 107 bytes is taken and one of 108 is refused with its length") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string longest = d / std::string(107 - d.path().size() - 1, 'x');
  REQUIRE(longest.size() == 107);
  CHECK(unix_listener::open(io.get_executor(), still, longest));
  auto l = unix_listener::open(io.get_executor(), still, longest + "x");
  REQUIRE_FALSE(l);
  CHECK(l.error().code == errc::invalid_argument);
  CHECK(l.error().message.find("has 108 bytes") != std::string::npos);
  CHECK(connect_unix(longest + "x").error().code == errc::invalid_argument);
}

TEST_CASE("G42: of many daemons that start at once exactly one wins, over a stale socket too") {
  for (int round = 0; round < 5; ++round) {
    temporary_directory d;
    const std::string path = d / "s";
    if (round % 2 == 1) ::close(plain_socket(path, false));
    std::array<int, 2> gate{}, end{};
    REQUIRE(::pipe(gate.data()) == 0);
    REQUIRE(::pipe(end.data()) == 0);
    std::vector<pid_t> racers;
    std::array<int, 2> results{};
    REQUIRE(::pipe(results.data()) == 0);
    for (int i = 0; i < 20; ++i) {
      const pid_t racer = ::fork();
      if (racer == 0) {
        ::close(gate[1]);
        ::close(end[1]);
        char c = 0;
        (void)!::read(gate[0], &c, 1);
        asio::io_context io(1);
        auto l = unix_listener::open(io.get_executor(), still, path);
        const char won = l ? 'w' : l.error().code == errc::unavailable ? 'l' : 'e';
        (void)!::write(results[1], &won, 1);
        (void)!::read(end[0], &c, 1);  // hold what was won until all have tried
        ::_exit(0);
      }
      racers.push_back(racer);
    }
    ::close(gate[1]);
    std::string all(20, '\0');
    for (char& c : all) REQUIRE(::read(results[0], &c, 1) == 1);
    CHECK(std::count(all.begin(), all.end(), 'w') == 1);
    CHECK(std::count(all.begin(), all.end(), 'l') == 19);
    const auto fd = connect_unix(path);
    CHECK(fd);
    if (fd) ::close(*fd);
    ::close(end[1]);
    for (pid_t p : racers) ::waitpid(p, nullptr, 0);
    for (int f : {gate[0], end[0], results[0], results[1]}) ::close(f);
  }
}

TEST_CASE("G26: without descriptors accepting rests, and goes on when there are some again") {
  temporary_directory d;
  asio::io_context io(1);
  manual_time time;
  const std::string path = d / "s";
  auto l = unix_listener::open(io.get_executor(), time, path);
  REQUIRE(l);
  std::vector<int> accepted;
  (*l)->start([&](int fd, peer_credentials) { accepted.push_back(fd); });
  const auto caller = connect_unix(path);
  REQUIRE(caller);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(*caller) + 1;
  std::vector<int> fill;
  ::setrlimit(RLIMIT_NOFILE, &none);
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fill.push_back(fd);
  run_ready(io);
  // Nothing is ready while it rests: no spinning.
  CHECK(io.poll() == 0);
  CHECK(accepted.empty());
  for (int fd : fill) ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &before);
  time.advance(milliseconds(99));
  run_ready(io);
  CHECK(accepted.empty());
  time.advance(milliseconds(1));
  REQUIRE(accepted.size() == 1);
  ::close(accepted[0]);
  ::close(*caller);
}

TEST_CASE("D1: a socket passed by systemd is taken over and its file stays") {
  temporary_directory d;
  asio::io_context io(1);
  const std::string path = d / "s";
  {
    auto l = unix_listener::adopt(io.get_executor(), still, plain_socket(path, true));
    REQUIRE(l);
    int calls = 0;
    (*l)->start([&](int fd, peer_credentials) {
      ++calls;
      ::close(fd);
    });
    const auto a = connect_unix(path);
    REQUIRE(a);
    run_until(io, [&] { return calls == 1; });
    ::close(*a);
  }
  CHECK(mode_of(path) != 0);
  std::array<int, 2> pipe_ends{};
  REQUIRE(::pipe(pipe_ends.data()) == 0);
  CHECK_FALSE(unix_listener::adopt(io.get_executor(), still, pipe_ends[0]));
  ::close(pipe_ends[1]);
  CHECK_FALSE(unix_listener::adopt(io.get_executor(), still, ::socket(AF_INET, SOCK_STREAM, 0)));
}
