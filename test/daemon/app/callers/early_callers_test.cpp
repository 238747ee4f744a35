// Callers whose process is not known yet.
#include "daemon/app/callers/early_callers.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <set>
#include <vector>

using namespace mcpbx;
using mcpbx::daemon::callers::early_callers;

namespace {

struct rig {
  mcpbx::test::manual_time time;
  std::set<pid_t> unknown;
  std::vector<pid_t> entered;
  early_callers early{time, [this](pid_t pid) { return unknown.contains(pid); },
                      [this](int fd, const mcp::socket::peer_credentials& peer) {
                        ::close(fd);
                        entered.push_back(peer.pid);
                      }};
  int come(pid_t pid) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    early.came(fd, {.uid = 0, .pid = pid});
    return fd;
  }
};

using pids = std::vector<pid_t>;

}  // namespace

TEST_CASE("G42: a tool server that connects before its start is known waits until it is, and others do not") {
  rig r;
  r.unknown = {7};
  r.come(7);
  r.come(8);
  CHECK(r.entered == pids{8});
  r.time.advance(early_callers::between_looks);
  CHECK(r.entered == pids{8});
  r.unknown.clear();
  r.time.advance(early_callers::between_looks);
  CHECK(r.entered == pids{8, 7});
  CHECK(r.time.armed() == 0);
}

TEST_CASE("G42: a process that never becomes known is judged after a second, and no more than a few wait") {
  rig r;
  r.unknown = {7};
  for (std::size_t i = 0; i < early_callers::most + 3; ++i) r.come(7);
  CHECK(r.entered.size() == 3);
  r.time.advance(early_callers::longest - milliseconds(1));
  CHECK(r.entered.size() == 3);
  r.time.advance(early_callers::between_looks);
  CHECK(r.entered.size() == early_callers::most + 3);
  CHECK(r.early.waiting() == 0);
}

TEST_CASE("G20: callers that wait are closed when the daemon stops") {
  rig r;
  r.unknown = {7};
  const int fd = r.come(7);
  r.early.close();
  CHECK(::fcntl(fd, F_GETFD) < 0);
  r.time.advance(early_callers::longest);
  CHECK(r.entered.empty());
}
