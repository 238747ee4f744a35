// The command line's end of the socket, in reads of any size.
#include "daemon/cli/link/daemon_connection.hpp"

#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace cli_connection {

using namespace mcpbx;
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
    cli::daemon_connection c(ends[1]);
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

}  // namespace cli_connection
