// Tests of a daemon's identity among those that share a journal.
#include "daemon/app/process/daemon_identity.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::process;

namespace {

conf::environment with_state(const std::string& folder) {
  conf::environment env;
  env.values = {{"XDG_STATE_HOME", folder}};
  return env;
}

}  // namespace

TEST_CASE("identity: it stays with the state directory and differs from every other") {
  mcpbx::test::temporary_directory one, two;
  const auto id = daemon_identity(with_state(one.path())).value();
  CHECK(id.size() == 32);
  CHECK(daemon_identity(with_state(one.path())).value() == id);
  CHECK(daemon_identity(with_state(two.path())).value() != id);
  struct stat s{};
  REQUIRE(::stat((one / "mcpbx/daemon-id").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  CHECK(passing_identity() != passing_identity());
}

TEST_CASE("identity: a file of somebody else and a missing place are errors with the mend") {
  mcpbx::test::temporary_directory one;
  REQUIRE(daemon_identity(with_state(one.path())).has_value());
  one.write("mcpbx/daemon-id", "me");
  const auto refused = daemon_identity(with_state(one.path()));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("daemon-id is not what a daemon wrote; delete it") != std::string::npos);
  CHECK(daemon_identity({}).error().code == errc::config);
}

TEST_CASE("identity: people are told the process and its host") {
  CHECK(daemon_label().starts_with("mcpbxd " + std::to_string(::getpid()) + " on "));
}
