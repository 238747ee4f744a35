// Tests of the service manager's socket and notifications.
#include "daemon/app/process/service.hpp"

#include "test/support/captured_output.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::daemon::process;
using mcpbx::test::changed_variable;

namespace {

// The socket of a service manager, to which $NOTIFY_SOCKET points.
struct manager {
  const mcpbx::test::temporary_directory folder;
  const std::string path = folder / "notify";
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const changed_variable variable{"NOTIFY_SOCKET", path.c_str()};

  manager() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~manager() { ::close(fd); }

  // Returns the next message, or "".
  std::string told() const {
    std::array<char, 64> got{};
    const auto n = ::recv(fd, got.data(), got.size(), 0);
    return {got.data(), static_cast<std::size_t>(n > 0 ? n : 0)};
  }
};

}  // namespace

TEST_CASE("a passed socket is taken when it is meant for this process and the variables go") {
  const std::string own = std::to_string(::getpid());
  const changed_variable pid("LISTEN_PID", own.c_str()), count("LISTEN_FDS", "1"), names("LISTEN_FDNAMES", "x");
  const bool ours = ::fcntl(3, F_GETFD) < 0 && ::dup2(0, 3) == 3;  // a descriptor to look at
  CHECK(take_passed_socket() == 3);
  CHECK((::fcntl(3, F_GETFD) & FD_CLOEXEC) != 0);
  if (ours) ::close(3);
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) CHECK(std::getenv(name) == nullptr);
  CHECK_FALSE(take_passed_socket());
}

TEST_CASE("a socket that was passed to another process is left alone and the variables go") {
  const changed_variable pid("LISTEN_PID", "1"), count("LISTEN_FDS", "1");
  CHECK_FALSE(take_passed_socket());
  CHECK(std::getenv("LISTEN_FDS") == nullptr);
}

TEST_CASE("callers of this user who wait at a passed socket are told why nobody serves them, and others are not") {
  const mcpbx::test::temporary_directory folder;
  const std::string path = folder / "s", own = std::to_string(::getpid());
  const changed_variable pid("LISTEN_PID", own.c_str()), count("LISTEN_FDS", "1");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int kept = ::fcntl(3, F_DUPFD_CLOEXEC, 10);  // a descriptor of the test runner
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 8) == 0);
  if (listener != 3) REQUIRE(::dup2(listener, 3) == 3);
  const auto connected = [&] {
    const int caller = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(::connect(caller, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return caller;
  };
  const int ours = connected();
  int foreign = -1;
  if (::geteuid() == 0) {
    constexpr uid_t nobody = 65'534;
    REQUIRE(::chmod((folder / "").c_str(), 0711) == 0);
    REQUIRE(::chmod(path.c_str(), 0666) == 0);
    REQUIRE(::seteuid(nobody) == 0);
    foreign = connected();
    REQUIRE(::seteuid(0) == 0);
  } else {
    MESSAGE("not tested with another user, which only root can become");
  }
  CHECK(is_socket_passed());
  refuse_passed_callers("c.json:1:1: wrong\n");
  CHECK_FALSE(is_socket_passed());
  std::array<char, 256> got{};
  const auto n = ::read(ours, got.data(), got.size());
  CHECK(std::string(got.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))) ==
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"c.json:1:1: wrong\"}}\n");
  if (foreign >= 0) CHECK(::read(foreign, got.data(), got.size()) == 0);
  for (const int fd : {ours, foreign, listener}) ::close(fd);
  if (listener != 3) ::close(3);
  if (kept >= 0) ::dup2(kept, 3);
  ::close(kept);
}

TEST_CASE("the service manager is told on its socket") {
  const manager m;
  notify_service_manager("READY=1");
  CHECK(m.told() == "READY=1");
  const changed_variable none("NOTIFY_SOCKET", nullptr);
  notify_service_manager("STOPPING=1");
  CHECK(m.told() == "");
}

TEST_CASE("a service manager with a watchdog gets a sign of life at each half of its interval") {
  const manager m;
  const changed_variable interval("WATCHDOG_USEC", "30000000"), pid("WATCHDOG_PID", std::to_string(::getpid()).c_str());
  mcpbx::test::manual_time clock;
  const watchdog alive(clock);
  CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
  CHECK(std::getenv("WATCHDOG_PID") == nullptr);
  for (int i = 0; i < 3; ++i) {
    CHECK(m.told() == "WATCHDOG=1");
    CHECK(m.told() == "");
    clock.advance(milliseconds(14'999));
    CHECK(m.told() == "");
    clock.advance(milliseconds(1));
  }
}

TEST_CASE("a watchdog that is another process's, or none, gets no sign of life") {
  const manager m;
  for (const auto& [interval, pid] : {std::pair{"30000000", "1"},
                                      {"0", nullptr},
                                      {"-5", nullptr},
                                      {"soon", nullptr},
                                      {"3x", nullptr},
                                      {"99999999999999999999", nullptr},
                                      {"", nullptr}}) {
    const changed_variable one("WATCHDOG_USEC", interval), other("WATCHDOG_PID", pid);
    mcpbx::test::manual_time clock;
    const watchdog alive(clock);
    clock.advance(milliseconds(3'600'000));
    CHECK(m.told() == "");
  }
}
