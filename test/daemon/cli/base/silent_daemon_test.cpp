// A daemon that listens and does not answer must not keep a command for ever.
#include "daemon/cli/base/daemon_calls.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>

using namespace mcpbx;
using namespace mcpbx::cli;
using namespace mcpbx::cli::terminals;

TEST_CASE("a daemon that listens and says nothing ends a command with status 3 instead of keeping it") {
  const test::temporary_directory d;
  const std::string path = d / "s";
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof at.sun_path);
  std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(listener, 4) == 0);
  terminal screen;
  context c;
  c.place.socket = path;
  c.screen = &screen;
  int status = 0;
  const auto made = connect_or_explain(c, false, status, {.answers_within = std::chrono::milliseconds(20)});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::timed_out);
  CHECK(status == no_daemon);
  ::close(listener);
}
