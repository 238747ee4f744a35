// Tests of the service manager's socket and notifications.
#include "daemon/app/process/service.hpp"

#include "test/support/captured_output.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon;
using mcpbx::test::changed_variable;

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

TEST_CASE("the service manager is told on its socket") {
  const mcpbx::test::temporary_directory folder;
  const std::string path = folder / "notify";
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  {
    const changed_variable socket("NOTIFY_SOCKET", path.c_str());
    notify_service_manager("READY=1");
  }
  std::array<char, 64> got{};
  CHECK(::recv(fd, got.data(), got.size(), 0) == 7);
  CHECK(std::string(got.data()) == "READY=1");
  const changed_variable none("NOTIFY_SOCKET", nullptr);
  notify_service_manager("STOPPING=1");
  CHECK(::recv(fd, got.data(), got.size(), 0) < 0);
  ::close(fd);
}
