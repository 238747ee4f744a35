// Tests of the search for the process at the other end of a TCP connection.
#include "mcp/socket/tcp_peer.hpp"

#include "mcp/process/unique_fd.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace mcpbx::mcp::process;
using namespace mcpbx::mcp::socket;

namespace {

struct connected_pair {
  explicit connected_pair(int family) {
    const unique_fd listener(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage where{};
    where.ss_family = static_cast<sa_family_t>(family);
    socklen_t size = sizeof(sockaddr_in);
    if (family == AF_INET6) {
      sockaddr_in6 a{};
      a.sin6_family = AF_INET6;
      a.sin6_addr = in6addr_loopback;
      std::memcpy(&where, &a, sizeof a);
      size = sizeof a;
    } else {
      sockaddr_in a{};
      a.sin_family = AF_INET;
      a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      std::memcpy(&where, &a, sizeof a);
    }
    if (listener.get() < 0 || ::bind(listener.get(), reinterpret_cast<sockaddr*>(&where), size) != 0) return;
    REQUIRE(::listen(listener.get(), 4) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0);
    client = unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&where), size) == 0);
    server = unique_fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  unique_fd client{-1}, server{-1};
};

std::uint64_t inode_of(int fd) {
  struct stat s{};
  REQUIRE(::fstat(fd, &s) == 0);
  return s.st_ino;
}

std::string table(int family) {
  std::ifstream in(family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Cuts a table, which has a line for each connection of the last minute, down to its head, the line with `word` and one
// on each side.
std::string lines_around(const std::string& table, const std::string& word) {
  std::istringstream in(table);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  std::string few = lines.at(0);
  for (std::size_t i = 1; i < lines.size(); ++i)
    for (const std::size_t near : {i - 1, i, i + 1})
      if (near < lines.size() && lines[near].contains(" " + word + " ")) {
        few += lines[i];
        break;
      }
  return few;
}

}  // namespace

TEST_CASE("G43: the socket at the other end is found, by the kernel's diagnosis and in its table") {
  for (const int family : {AF_INET, AF_INET6}) {
    connected_pair c(family);
    if (c.server.get() < 0) continue;  // a machine without IPv6
    const auto ends = ends_of(c.server.get());
    REQUIRE(ends);
    if (const auto found = peer_by_diagnosis(*ends)) {
      CHECK(found->inode == inode_of(c.client.get()));
      CHECK(found->uid == ::geteuid());
    }
    const auto listed = peer_in_table(*ends, table(family));
    REQUIRE(listed);
    CHECK(listed->inode == inode_of(c.client.get()));
    CHECK(listed->uid == ::geteuid());
    const auto either = peer_of(*ends);
    REQUIRE(either);
    CHECK(either->inode == inode_of(c.client.get()));
    // Closed by its program: nobody has it.
    c.client = unique_fd(-1);
    CHECK_FALSE(peer_of(*ends));
  }
}

TEST_CASE("G43: a table that says nothing of the connection, or nonsense, gives no peer") {
  connected_pair c(AF_INET);
  const auto ends = ends_of(c.server.get());
  REQUIRE(ends);
  CHECK_FALSE(peer_in_table(*ends, ""));
  CHECK_FALSE(peer_in_table(*ends, "  sl  local_address rem_address   st tx_queue\n"));
  const auto cut = lines_around(table(AF_INET), std::to_string(inode_of(c.client.get())));
  REQUIRE(peer_in_table(*ends, cut));
  bool lost = false;
  for (std::size_t size = cut.size(); size > 0; --size) {
    const auto found = peer_in_table(*ends, std::string_view(cut).substr(0, size));
    if (found) CHECK(found->inode > 0);
    lost = lost || !found;
  }
  CHECK(lost);
  CHECK_FALSE(ends_of(-1));
}

TEST_CASE("G43: who holds a socket is found among all processes") {
  connected_pair c(AF_INET);
  const auto inode = inode_of(c.client.get());
  CHECK(holds_socket(::getpid(), inode));
  CHECK(holder_of(inode) == ::getpid());
  CHECK_FALSE(holds_socket(0x7fffffff, inode));
  CHECK_FALSE(holder_of(0xffffffffffff));
  // In a child only.
  std::array<int, 2> tell{};
  REQUIRE(::pipe(tell.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(tell[1]);
    (void)!::read(tell[0], &byte, 1);
    ::_exit(0);
  }
  ::close(tell[0]);
  c.client = unique_fd(-1);
  CHECK(holder_of(inode) == child);
  const std::array likely{child};
  CHECK(holder_of(inode, likely) == child);
  ::close(tell[1]);
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(holder_of(inode));
}
