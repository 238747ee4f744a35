// The command line's end of the socket, in reads of any size.
#include "daemon/cli/link/daemon_connection.hpp"

#include "mcp/json/json_writer.hpp"
#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace cli_connection {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

// Returns the notifications and the result of a call to a daemon that sends `said` and closes.
std::string heard(std::string_view said, std::size_t size) {
  const read_sizes cut(size == std::string_view::npos ? std::size_t{1} << 20 : size);
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  REQUIRE(::send(ends[0], said.data(), said.size(), MSG_DONTWAIT) == static_cast<ssize_t>(said.size()));
  REQUIRE(::shutdown(ends[0], SHUT_WR) == 0);
  std::string all;
  {
    cli::link::daemon_connection c(ends[1]);
    const auto answer = c.call("m", "{}", [&](std::string_view method, const raw_json& params) {
      all.append(method).append(params.text()).append("\n");
    });
    all += answer ? std::string(answer->result.text()) : answer.error().message;
  }
  ::close(ends[0]);
  return all;
}

TEST_CASE("cli: what the daemon says is heard the same in reads of any size") {
  std::string said;
  for (const std::size_t size : awkward_sizes)
    if (size < 9'000)
      said += R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"text":")" + filler_words(size) + "\"}}\n";
  said += R"({"jsonrpc":"2.0","id":1,"result":{"text":"end"}})" + std::string("\n");
  CHECK(heard(said, std::string_view::npos).ends_with(R"({"text":"end"})"));
  check_in_any_pieces(said, heard);
  check_in_any_pieces(std::string_view(said).substr(0, said.size() - 20), heard);
}

TEST_CASE("cli: why the daemon refuses somebody is heard in reads of any size") {
  const std::string refusal = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"all places are taken"}})"
                              "\n";
  CHECK(heard(refusal, std::string_view::npos).find("all places are taken") != std::string::npos);
  check_in_any_pieces(refusal, heard);
}

// Runs `f` in a child process that catches interrupts, and sends it signals until it ends. Returns its exit status.
template <class F>
int status_after(std::initializer_list<int> signals, F f) {
  int ready[2];
  REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
    cli::link::catch_interrupts();
    (void)!::write(ready[1], "r", 1);
    ::_exit(f());
  }
  char byte = 0;
  ::close(ready[1]);
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  int status = 0;
  for (int i = 0; i < 2'000; ++i) {
    ::poll(nullptr, 0, 10);
    if (::waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 1'000;
    for (const int signal : signals) ::kill(child, signal);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return 2'000;
}

TEST_CASE("cli: an interrupt ends the sending to a daemon that takes nothing") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  CHECK(status_after({SIGINT}, [&] {
          cli::link::daemon_connection c(ends[1]);
          const auto got = c.call("m", json_object("text", std::string(8u << 20, 'x')));
          return !got && got.error().code == errc::cancelled ? 7 : 8;
        }) == 7);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE(
    "cli: an interrupt while an answer waits for room ends the call, and nothing follows the part that was sent") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  CHECK(status_after({SIGINT}, [&] {
          cli::link::daemon_connection c(ends[1]);
          bool tried = false, answered = true;
          const auto id = mcp::rpc::rpc_id::number(1);
          const auto got = c.call(
              "m", "{}", {}, [](std::int64_t) {},
              [&] {
                if (std::exchange(tried, true)) return;
                const auto large = raw_json::own(json_object("text", std::string(8u << 20, 'x')));
                answered = c.respond(id, large).has_value();
              });
          const auto after = c.notify("n", "{}");
          return !got && got.error().code == errc::cancelled && !answered && !after ? 7 : 8;
        }) == 7);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("cli: an interrupt between two calls ends the next one, whose caller is told once") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const std::string_view said = R"({"jsonrpc":"2.0","id":1,"result":{}})"
                                "\n"
                                R"({"jsonrpc":"2.0","id":2,"result":{}})"
                                "\n";
  const auto call_twice = [&](bool interrupt) {
    return status_after({}, [&] {
      cli::link::daemon_connection c(ends[1]);
      if (interrupt) ::raise(SIGINT);
      int told = 0;
      const auto first = c.call("m", "{}", {}, [&](std::int64_t) { ++told; });
      const auto second = c.call("m", "{}", {}, [&](std::int64_t) { told += 10; });
      return first && second ? told : 8;
    });
  };
  REQUIRE(::send(ends[0], said.data(), said.size(), MSG_DONTWAIT) == static_cast<ssize_t>(said.size()));
  CHECK(call_twice(false) == 0);
  REQUIRE(::send(ends[0], said.data(), said.size(), MSG_DONTWAIT) == static_cast<ssize_t>(said.size()));
  CHECK(call_twice(true) == 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("cli: each signal that ends programs is caught, and a Ctrl-C behind it takes it not back") {
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT})
    CHECK_MESSAGE(status_after({signal, SIGINT},
                               [] {
                                 for (int i = 0; i < 1'000 && !cli::link::interrupted(); ++i) ::poll(nullptr, 0, 10);
                                 ::poll(nullptr, 0, 50);  // ends early at the second signal
                                 return cli::link::forget_interrupt() ? 8 : 7;
                               }) == 7,
                  signal);
}

}  // namespace cli_connection
