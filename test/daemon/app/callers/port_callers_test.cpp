// Tests of the search for the processes behind connections on the port.
#include "daemon/app/callers/port_callers.hpp"

#include "mcp/process/unique_fd.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::daemon::callers;
using namespace mcpbx::test;

namespace {

struct connected {
  connected() {
    const mcp::process::unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&where), size) == 0);
    REQUIRE(::listen(listener.get(), 4) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0);
    client = mcp::process::unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&where), size) == 0);
    server = mcp::process::unique_fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  mcp::process::unique_fd client{-1}, server{-1};
};

std::string text_of(const result<std::string>& r) {
  return r ? "admitted " + *r : r.error().message;
}

std::string asked(const mcp::keepers::process_owner& owner, bool client_gone = false, int looks_before_known = 0) {
  boost::asio::io_context io;
  lane work("compute", 1);
  manual_time time;
  int looks = 0;
  port_callers callers(
      io.get_executor(), work, time,
      [&](pid_t pid) {
        CHECK(pid == ::getpid());  // the test is the caller
        return owner;
      },
      [&](pid_t) { return ++looks <= looks_before_known; });
  connected c;
  const auto ends = mcp::socket::ends_of(c.server.get());
  REQUIRE(ends);
  if (client_gone) c.client = mcp::process::unique_fd(-1);
  std::optional<std::string> told;
  const auto wait = boost::asio::make_work_guard(io);
  callers.ask(*ends, [&](const result<std::string>& r) {
    told = text_of(r);
    io.stop();
  });
  CHECK_FALSE(told);
  while (!told) {
    io.run_one();
    if (time.armed() > 0) time.advance(milliseconds(10));
  }
  CHECK(looks <= 101);
  return told.value_or("");
}

// Returns true if an unprivileged program, such as the daemon, notices a hidden process below it. A process started by
// sudo or as setuid is another user's and undumpable; without root only the latter can be tested, and it is enough.
bool told_of_hidden(bool dumpable) {
  const pid_t daemon = ::fork();
  REQUIRE(daemon >= 0);
  if (daemon == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
                             ::setresuid(nobody, nobody, nobody) != 0))
      ::_exit(2);
    int up[2];
    if (::pipe2(up, O_CLOEXEC) != 0) ::_exit(3);
    const pid_t server = ::fork();
    if (server == 0) {
      ::prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0);
      (void)!::write(up[1], "x", 1);
      for (;;) ::pause();
    }
    char c = 0;
    const bool is_up = server > 0 && ::read(up[0], &c, 1) == 1;
    const bool hidden = is_up && has_hidden_below();
    if (server > 0) ::kill(server, SIGKILL);
    ::_exit(is_up ? hidden : 4);
  }
  int status = 0;
  REQUIRE(::waitpid(daemon, &status, 0) == daemon);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("G42: a stranger is admitted, a tool server where it may call, and nobody who cannot be known") {
  using enum mcp::keepers::process_owner::kind;
  CHECK(text_of(admitted({stranger, "", false})) == "admitted ");
  CHECK(text_of(admitted({ours, "files", true})) == "admitted files");
  CHECK(contains(text_of(admitted({ours, "files", false})), "mayCall"));
  CHECK(contains(text_of(admitted({ours, "", false})), "mayCall"));
  CHECK(contains(text_of(admitted({})), "cannot be told"));
}

TEST_CASE("G43: of a connection on the port it is found out which process it is from") {
  using enum mcp::keepers::process_owner::kind;
  CHECK(asked({stranger, "", false}) == "admitted ");
  CHECK(asked({ours, "files", true}) == "admitted files");
  CHECK(contains(asked({ours, "files", false}), "mayCall"));
  CHECK(contains(asked({}), "cannot be told"));
  CHECK(contains(asked({stranger, "", false}, true), "cannot be told"));
}

TEST_CASE(
    "G43: a tool server that is quicker on the port than the word of its start waits for that, a second at most") {
  using enum mcp::keepers::process_owner::kind;
  CHECK(asked({ours, "files", true}, false, 3) == "admitted files");
  CHECK(contains(asked({ours, "", false}, false, 1'000'000), "mayCall"));
}

TEST_CASE("G43: on the port another user's program is admitted, but not while a tool server's cannot be told from it") {
  const uid_t own = ::geteuid(), other = own + 1;
  CHECK(text_of(admitted_unseen(other, false)) == "admitted ");
  CHECK(contains(text_of(admitted_unseen(other, true)), "cannot be told"));
  CHECK(contains(text_of(admitted_unseen(own, false)), "cannot be told"));
  CHECK(contains(text_of(admitted_unseen(own, true)), "cannot be told"));
  // As sudo leaves a tool server behind: nobody below the daemon may look into it.
  CHECK(told_of_hidden(false));
  CHECK_FALSE(told_of_hidden(true));
}
