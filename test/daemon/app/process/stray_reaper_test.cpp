// Children that nobody waits for do not stay as zombies.
#include "daemon/app/process/stray_reaper.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

using namespace mcpbx;
using mcpbx::daemon::process::stray_reaper;

namespace {

pid_t ended_child() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
  return pid;
}

bool is_reaped(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0 && errno == ECHILD;
}

}  // namespace

TEST_CASE("G44: a child that nobody waits for is reaped at the second look and one that is waited for is not") {
  mcpbx::test::manual_time time;
  const pid_t stray = ended_child(), ours = ended_child();
  stray_reaper reaper(time, [&](pid_t pid) { return pid == ours; });
  reaper.look();
  reaper.look();
  time.advance(stray_reaper::patience);
  CHECK_FALSE(is_reaped(stray));  // whoever started it may be about to
  time.advance(stray_reaper::patience);
  CHECK(is_reaped(stray));
  CHECK_FALSE(is_reaped(ours));
  CHECK(::waitpid(ours, nullptr, 0) == ours);
}
