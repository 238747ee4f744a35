// Kept blocks: which sizes they serve, how many there are, and which thread has them.
#include "mcp/support/block_cache.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using mcpbx::block_cache;

namespace {

void* make(std::size_t bytes) {
  return std::malloc(block_cache::rounded(bytes));
}

/// The tests of this file share the blocks of their thread.
struct kept_blocks {
  kept_blocks() {
    block_cache::enable();
    block_cache::drop();
  }
  ~kept_blocks() { block_cache::drop(); }
};

/// Returns true if the work ends its process with SIGABRT.
bool ends(const auto& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("a freed block serves all requests of its size and no larger ones") {
  const kept_blocks own;
  void* const one = make(30);
  CHECK(block_cache::rounded(30) == 40);
  REQUIRE(block_cache::give(one, 30));
  CHECK(block_cache::take(24) == nullptr);
  CHECK(block_cache::take(41) == nullptr);
  CHECK(block_cache::take(40) == one);
  CHECK(block_cache::take(25) == nullptr);
  REQUIRE(block_cache::give(one, 40));
  CHECK(block_cache::take(25) == one);
  std::free(one);
}

TEST_CASE("a block of unknown origin serves only what fits into its usable bytes") {
  const kept_blocks own;
  void* const one = make(55);
  REQUIRE(block_cache::give_usable(one, 55));
  CHECK(block_cache::take(41) == nullptr);
  CHECK(block_cache::take(40) == one);
  CHECK_FALSE(block_cache::give_usable(one, block_cache::smallest - 1));
  CHECK_FALSE(block_cache::give_usable(one, block_cache::largest + block_cache::step));
  std::free(one);
}

TEST_CASE("large blocks are not kept and small ones are bounded by number and bytes") {
  const kept_blocks own;
  const auto large = block_cache::largest + 1;
  CHECK(block_cache::rounded(large) == large);
  void* const one = make(large);
  CHECK_FALSE(block_cache::give(one, large));
  std::free(one);
  CHECK(block_cache::most(1) == block_cache::most_blocks);
  CHECK(block_cache::most(block_cache::largest) == block_cache::most_bytes / block_cache::largest);
  for (std::size_t i = 0; i < block_cache::most(block_cache::largest); ++i)
    REQUIRE(block_cache::give(make(block_cache::largest), block_cache::largest));
  void* const further = make(block_cache::largest);
  CHECK_FALSE(block_cache::give(further, block_cache::largest));
  std::free(further);
  block_cache::drop();
  CHECK(block_cache::take(block_cache::largest) == nullptr);
}

TEST_CASE("a block that is freed twice and a list that is written over end the process") {
  const kept_blocks own;
  void* const one = make(100);
  void* const other = make(100);
  REQUIRE(block_cache::give(one, 100));
  REQUIRE(block_cache::give(other, 100));
  CHECK(ends([&] { block_cache::give(other, 100); }));
  CHECK(ends([&] { block_cache::give(one, 97); }));
  CHECK(ends([&] {
    std::memset(other, 'A', 8);
    block_cache::take(100);
  }));
  CHECK(ends([&] {
    std::memset(other, 0, 16);
    block_cache::take(100);
  }));
  CHECK_FALSE(ends([&] { block_cache::give(block_cache::take(100), 100); }));
}

TEST_CASE("other threads keep no blocks and get none of the main thread") {
  const kept_blocks own;
  void* const one = make(100);
  REQUIRE(block_cache::give(one, 100));
  std::thread([] {
    void* const theirs = make(100);
    CHECK(block_cache::take(100) == nullptr);
    CHECK_FALSE(block_cache::give(theirs, 100));
    CHECK_FALSE(block_cache::give_usable(theirs, 104));
    std::free(theirs);
  }).join();
  CHECK(block_cache::take(100) == one);
  std::free(one);
}
