// The daemon below a service manager that the test plays: a passed socket, readiness and signs of life.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

using namespace mcpbx::e2e;

namespace {

// Listens at the first argument as descriptor 3, as systemd.socket(5) does, and becomes the program behind it, with
// FIRST_CALLER, a file that it makes first, when somebody has connected. A perl with these modules is on every Debian.
constexpr const char* activation = R"(
use strict; use Socket; use POSIX ();
$^F = 9;
my $path = shift;
socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; bind($s, sockaddr_un($path)) or die; listen($s, 64) or die;
if (fileno($s) != 3) { POSIX::dup2(fileno($s), 3); }
$ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 1; $ENV{WATCHDOG_PID} = $$;
if ($ENV{FIRST_CALLER}) { open(my $f, '>', $ENV{FIRST_CALLER}); close($f); my $in = ''; vec($in, 3, 1) = 1; select($in, undef, undef, undef); }
exec @ARGV;
)";

// $NOTIFY_SOCKET of a service manager.
class notify_socket {
 public:
  explicit notify_socket(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~notify_socket() { ::close(fd_); }
  notify_socket(const notify_socket&) = delete;
  notify_socket& operator=(const notify_socket&) = delete;

  // Waits for a message.
  bool gets(const std::string& wanted) {
    return eventually([&] {
      std::array<char, 256> got{};
      const auto n = ::recv(fd_, got.data(), got.size(), 0);
      return n > 0 && std::string(got.data(), static_cast<std::size_t>(n)) == wanted;
    });
  }

 private:
  int fd_;
};

}  // namespace

TEST_CASE("D1: a passed socket is served and left in its place, and the manager hears of readiness, life and end") {
  const world w;
  notify_socket manager(w.file("notify"));
  const auto config = w.write("c.json", R"({"mcpServers":{"s":{"command":"@SERVER@","args":["--tag","@TAG@"]}}})");
  child::options o;
  o.argv = {"/usr/bin/perl", "-e",   activation, w.socket(), program("mcpbxd"),
            "--config",      config, "--socket", w.socket()};
  o.env = w.env;
  o.env.insert(o.env.end(), {"NOTIFY_SOCKET=" + w.file("notify"), "WATCHDOG_USEC=200000"});
  o.cwd = w.dir();
  child daemon(o);
  CHECK(manager.gets("READY=1"));
  CHECK(manager.gets("WATCHDOG=1"));
  CHECK(manager.gets("WATCHDOG=1"));
  CHECK(run_cli(w, {"call", "s__echo", "text=through the passed socket"}).out == "through the passed socket\n");
  daemon.signal(SIGTERM);
  CHECK(manager.gets("STOPPING=1"));
  CHECK(daemon.wait().status == 0);
  CHECK(::access(w.socket().c_str(), F_OK) == 0);  // it is the manager's
  CHECK(w.tagged().empty());
}

TEST_CASE(
    "D1: callers of a passed socket are told why the daemon cannot start, so that it is not started for them again") {
  const world w;
  const auto config = w.write("c.json", R"({"models":7})");
  child::options o;
  o.argv = {"/usr/bin/perl", "-e",   activation, w.socket(), program("mcpbxd"),
            "--config",      config, "--socket", w.socket()};
  o.env = w.env;
  o.env.push_back("FIRST_CALLER=" + w.file("listens"));
  o.cwd = w.dir();
  child daemon(o);
  REQUIRE(eventually([&] { return ::access(w.file("listens").c_str(), F_OK) == 0; }));
  const auto told = run_cli(w, {"servers"});
  CHECK(told.status == 3);
  CHECK(contains(told.err, "mcpbx: the daemon refused the connection: "));
  CHECK(contains(told.err, "c.json:1:11: must be an object, not a number, in \"models\""));
  CHECK_FALSE(contains(told.err, "\n\n"));
  CHECK(daemon.wait().status == 78);
}

TEST_CASE("D1: callers of a passed socket are told that the port is taken, and are not left waiting") {
  const world w;
  const int port = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {::htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  REQUIRE(::bind(port, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(port, 1) == 0);
  REQUIRE(::getsockname(port, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const auto taken = "127.0.0.1:" + std::to_string(::ntohs(address.sin_port));
  const auto config = w.write("c.json", R"({"http": {"address": ")" + taken + "\"}}");
  child::options o;
  o.argv = {"/usr/bin/perl", "-e",   activation, w.socket(), program("mcpbxd"),
            "--config",      config, "--socket", w.socket()};
  o.env = w.env;
  o.env.push_back("FIRST_CALLER=" + w.file("listens"));
  o.cwd = w.dir();
  child daemon(o);
  REQUIRE(eventually([&] { return ::access(w.file("listens").c_str(), F_OK) == 0; }));
  const auto told = run_cli(w, {"servers"});
  CHECK(told.status == 3);
  CHECK(contains(told.err, "mcpbx: the daemon refused the connection: HTTP cannot be served at " + taken));
  CHECK(daemon.wait().status == 1);
  ::close(port);
}

TEST_CASE("O6: service status says how it is, with systemd or without") {
  const world w;
  const auto shown = run_cli(w, {"service", "status"});
  CHECK((shown.status == 0 || shown.status == 1));
  CHECK(
      (contains(shown.out, "there is no systemd that runs services for you here") || contains(shown.out, "at login")));
  const auto json = parse(run_cli(w, {"service", "--json"}).out);
  CHECK(at(json, "listening").as_bool() == (shown.status == 0));
  CHECK(run_cli(w, {"service", "enabel"}).status == 2);
}
