// Sizes of processes and of trees of them, read from /proc.
#include "daemon/front/base/process_memory.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <limits>

using namespace mcpbx::daemon::front;

TEST_CASE("G49: the memory of a process is told, and with what it started") {
  const pid_t self = ::getpid();
  REQUIRE(resident_bytes(self) > 100'000);
  CHECK(resident_bytes_of_tree(self) > 100'000);

  // A child that waits for the end of a pipe: it is there while it is measured.
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[1]);
    char byte = 0;
    [[maybe_unused]] const auto n = ::read(pipe[0], &byte, 1);
    ::_exit(0);
  }
  ::close(pipe[0]);
  const auto of_child = resident_bytes(child), of_both = resident_bytes_of_tree(self);
  ::close(pipe[1]);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(of_child > 0);
  CHECK(of_both > of_child + 100'000);
}

TEST_CASE("G49: of a process that there is not, no memory is told") {
  CHECK(resident_bytes(std::numeric_limits<pid_t>::max()) == -1);
  CHECK(resident_bytes_of_tree(std::numeric_limits<pid_t>::max()) == -1);
}
