// The mends of `mcpbx doctor --fix`.
#include "daemon/cli/doctor/repairs.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

using namespace mcpbx::cli::doctor;
using mcpbx::test::temporary_directory;

namespace {

int bound_socket(const std::string& path, bool listening) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  if (listening) REQUIRE(::listen(fd, 1) == 0);
  return fd;
}

unsigned mode_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 0777;
}

}  // namespace

TEST_CASE("doctor: a mode is set on the file itself and never through a link") {
  const temporary_directory folder;
  const auto file = folder.write("f", "x"), link = folder / "link";
  REQUIRE(::symlink(file.c_str(), link.c_str()) == 0);
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  CHECK_FALSE(carry_out({repair::kind::set_mode, link, 0600}, {}));
  CHECK(mode_of(file) == 0666);
  CHECK(carry_out({repair::kind::set_mode, file, 0600}, {}));
  CHECK(mode_of(file) == 0600);
  CHECK(carry_out({repair::kind::set_mode, file, 0100}, {}));
  CHECK(mode_of(file) == 0700);
  CHECK(carry_out({repair::kind::set_mode, file, 0755}, {}));  // others get nothing
  CHECK(mode_of(file) == 0700);
  CHECK_FALSE(carry_out({repair::kind::set_mode, folder / "none", 0600}, {}));
}

TEST_CASE("doctor: a socket is removed only if nobody listens and nobody holds its lock") {
  const temporary_directory folder;
  const auto path = folder / "s";
  const repair r{repair::kind::remove_socket, path};
  const int listening = bound_socket(path, true);
  CHECK_FALSE(carry_out(r, {}));
  CHECK(std::filesystem::exists(path));
  ::close(listening);

  const int lock = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  CHECK_FALSE(carry_out(r, {}));
  CHECK(std::filesystem::exists(path));
  ::close(lock);

  CHECK(carry_out(r, {}));
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(carry_out(r, {}));  // somebody else was faster

  folder.write("s", "a file now");
  CHECK_FALSE(carry_out(r, {}));
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("doctor: a mend is shown as the command that it is") {
  CHECK(shown({repair::kind::set_mode, "/a b", 0600}) == "chmod 600 '/a b'");
  CHECK(shown({repair::kind::set_mode, "/x", 0100}) == "chmod u+x /x");
  CHECK(shown({repair::kind::remove_socket, "/s"}) == "rm /s");
  CHECK(shown({repair::kind::reload}) == "mcpbx reload");
  CHECK(shown({repair::kind::restart_server, "git"}) == "mcpbx restart git");
}
