// Tests of the caller that is not looked up again.
#include "daemon/app/callers/last_stranger.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

using namespace mcpbx;
using namespace mcpbx::daemon::callers;

namespace {

// A child that only waits, and its pidfd as the kernel gives it for a connection.
class other_program {
 public:
  other_program() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~other_program() { end(); }
  other_program(const other_program&) = delete;
  other_program& operator=(const other_program&) = delete;

  mcp::socket::peer_credentials peer() const { return {.uid = ::geteuid(), .pid = pid_, .process = open(pid_)}; }
  void end() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  static std::shared_ptr<const mcp::process::unique_fd> open(pid_t pid) {
    return std::make_shared<const mcp::process::unique_fd>(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

}  // namespace

TEST_CASE("a stranger that connects again is known, and another process is not") {
  last_stranger last;
  const other_program one, two;
  CHECK_FALSE(last.is(one.peer()));
  last.note(one.peer());
  CHECK(last.is(one.peer()));
  CHECK_FALSE(last.is(two.peer()));
  last.note(two.peer());
  CHECK_FALSE(last.is(one.peer()));
}

TEST_CASE("a process that got the number of an ended stranger is not taken for it") {
  last_stranger last;
  other_program stranger;
  last.note(stranger.peer());
  auto next = stranger.peer();
  stranger.end();
  next.process = other_program::open(::getpid());  // lives, and has the number of the stranger
  CHECK_FALSE(last.is(next));
}

TEST_CASE("a connection of a process that has ended meanwhile is not taken for the stranger") {
  last_stranger last;
  const other_program stranger;
  last.note(stranger.peer());
  other_program ended;
  auto peer = ended.peer();
  peer.pid = stranger.peer().pid;
  ended.end();
  CHECK_FALSE(last.is(peer));
}

TEST_CASE("nobody is known where the kernel gives no pidfd for connections") {
  last_stranger last;
  const other_program one;
  auto old = one.peer();
  old.process = nullptr;
  last.note(old);
  CHECK_FALSE(last.is(one.peer()));
  last.note(one.peer());
  CHECK_FALSE(last.is(old));
}
