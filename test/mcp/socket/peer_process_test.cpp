// Tests of the identification of a Unix socket's peer, and of its failures.
#include "mcp/socket/peer_process.hpp"

#include "mcp/process/process_tree.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

using namespace mcpbx::mcp::process;
using namespace mcpbx::mcp::socket;

namespace {

// A listening socket without a file, and a child that connects to it, waits for a byte and ends.
struct caller_process {
  caller_process() {
    listener = unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socklen_t size = offsetof(sockaddr_un, sun_path);  // the kernel chooses an abstract name
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener.get(), 8) == 0);
    size = sizeof address;
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    pid = ::fork();
    if (pid == 0) {
      const int s = ::socket(AF_UNIX, SOCK_STREAM, 0);
      if (::connect(s, reinterpret_cast<sockaddr*>(&address), size) != 0) ::_exit(1);
      char byte = 0;
      (void)!::read(s, &byte, 1);
      ::_exit(0);
    }
    accepted = unique_fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(accepted.get() >= 0);
  }
  ~caller_process() { let_end(); }
  void let_end() {
    if (pid <= 0) return;
    (void)!::write(accepted.get(), "x", 1);
    ::waitpid(std::exchange(pid, -1), nullptr, 0);
  }
  unique_fd listener{-1}, accepted{-1};
  pid_t pid = -1;
};

}  // namespace

TEST_CASE("G42: a peer is known while its process lives and not any more when it has ended") {
  caller_process caller;
  const auto before = peer_of(caller.accepted.get());
  CHECK(before.uid == ::geteuid());
  CHECK(before.pid == caller.pid);
  CHECK(still_there(before));
  const auto old_kernel = peer_of(caller.accepted.get(), false);
  CHECK(old_kernel.pid == caller.pid);
  CHECK_FALSE(old_kernel.process);
  CHECK(still_there(old_kernel));
  caller.let_end();
  if (before.process) CHECK_FALSE(still_there(before));
  const auto after = peer_of(caller.accepted.get());
  if (before.process) CHECK_FALSE(still_there(after));
  // Also where only /proc can tell.
  const std::array roots{::getpid()};
  CHECK(ancestry_of(after.pid, roots).leads_to == ancestry::end::unknown);
}

TEST_CASE("G42: what is no Unix socket has no peer") {
  const auto peer = peer_of(-1);
  CHECK(peer.gone);
  CHECK_FALSE(still_there(peer));
  CHECK(peer.uid != ::geteuid());
}

TEST_CASE("G42: ancestors are walked to a root or to the end, and nothing is guessed") {
  using enum ancestry::end;
  std::map<pid_t, pid_t> parents{{10, 9}, {9, 5}, {5, 1}, {1, 0}, {20, 19}, {19, 7}, {7, 1}};
  const auto parent = [&](pid_t pid) { return parents.contains(pid) ? parents.at(pid) : -1; };
  const std::array<pid_t, 2> roots{7, 8};
  const auto ours = ancestry_of(20, roots, parent);
  CHECK(ours.leads_to == root);
  CHECK(ours.chain == std::vector<pid_t>{20, 19});
  CHECK(ancestry_of(7, roots, parent).leads_to == root);
  CHECK(ancestry_of(10, roots, parent).leads_to == elsewhere);
  CHECK(ancestry_of(99, roots, parent).leads_to == unknown);
  CHECK(ancestry_of(0, roots, parent).leads_to == unknown);
  CHECK(ancestry_of(-1, roots, parent).leads_to == unknown);
  // A chain without an end, or too long a one.
  parents[30] = 31;
  parents[31] = 30;
  CHECK(ancestry_of(30, roots, parent).leads_to == unknown);
  // A process below very many is not looked through again and again.
  int asked = 0;
  const auto deep = [&](pid_t pid) {
    ++asked;
    return pid + 1;
  };
  CHECK(ancestry_of(1'000, roots, deep).leads_to == unknown);
  CHECK(asked <= 300);
}

TEST_CASE("G42: a number that was given to another process in the middle of the walk leads nobody astray") {
  using enum ancestry::end;
  // 20 is a child of 19 below the root. 19 ends while it is looked at, its number goes to a stranger at once, and 20 is
  // adopted by the root.
  std::map<pid_t, pid_t> parents{{20, 19}, {19, 7}, {7, 1}, {1, 0}};
  int asked = 0;
  const auto parent = [&](pid_t pid) {
    const pid_t above = parents.contains(pid) ? parents.at(pid) : -1;
    if (++asked == 1) {
      parents[19] = 1;
      parents[20] = 7;
    }
    return above;
  };
  const std::array<pid_t, 1> roots{7};
  CHECK(ancestry_of(20, roots, parent).leads_to == root);
  // One that never holds still stays unknown.
  bool flip = false;
  const auto restless = [&](pid_t pid) -> pid_t {
    if (pid != 20) return 1;
    flip = !flip;
    return flip ? 19 : 18;
  };
  CHECK(ancestry_of(20, roots, restless).leads_to == unknown);
}
