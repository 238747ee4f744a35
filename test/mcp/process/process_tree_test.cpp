// The process tree, and the mark that tells which server a process belongs to.
#include "mcp/process/process_tree.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

using namespace mcpbx::mcp::process;

namespace {

// A child that waits, with one child of its own; both carry `mark`.
struct small_tree {
  pid_t child = -1, grandchild = -1;
  explicit small_tree(rlim_t mark) {
    std::array<int, 2> tell{};
    REQUIRE(::pipe(tell.data()) == 0);
    child = ::fork();
    if (child == 0) {
      mark_self(mark);
      const pid_t below = ::fork();
      if (below == 0) {
        ::setsid();
      } else {
        (void)!::write(tell[1], &below, sizeof below);
      }
      for (;;) ::pause();
    }
    REQUIRE(::read(tell[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    ::close(tell[0]);
    ::close(tell[1]);
  }
  ~small_tree() {
    ::kill(grandchild, SIGKILL);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
};

}  // namespace

TEST_CASE("a mark survives its coding, and other limits are no marks") {
  for (const server_mark m :
       {server_mark{1, 0, false}, server_mark{4194303, 0x3fffffff, true}, server_mark{77, 5, true}})
    CHECK(from_limit(to_limit(m)) == m);
  CHECK_FALSE(from_limit(RLIM_INFINITY));
  CHECK_FALSE(from_limit(0));
  CHECK_FALSE(from_limit(1'000'000));
}

TEST_CASE("a tree is listed parents first, and its marks are inherited past setsid") {
  const server_mark mark{4711, 12, false};
  small_tree t(to_limit(mark));
  const auto below = processes_below(::getpid());
  auto at = [&](pid_t pid) {
    return std::ranges::find_if(below, [pid](const process_node& n) { return n.pid == pid; });
  };
  REQUIRE(at(t.child) != below.end());
  REQUIRE(at(t.grandchild) != below.end());
  CHECK(at(t.child) < at(t.grandchild));
  CHECK(at(t.grandchild)->parent == t.child);
  CHECK(parent_of(t.grandchild) == t.child);
  CHECK(mark_of(t.grandchild) == mark);
  CHECK_FALSE(mark_of(::getpid()));
  CHECK_FALSE(has_ended(t.child));
}

TEST_CASE("G43: a process is told by its number and its start, which another one of that number does not have") {
  const auto ours = start_of(::getpid());
  CHECK(ours > 0);
  CHECK(start_of(::getpid()) == ours);
  CHECK(start_of(::getppid()) <= ours);
  CHECK(start_of(0x7fffffff) == 0);
}

TEST_CASE("what is no process has no parent, no mark and has ended") {
  CHECK(parent_of(0x7fffffff) == -1);
  CHECK_FALSE(mark_of(0x7fffffff));
  CHECK(has_ended(0x7fffffff));
}

TEST_CASE("a fate is decided by the mark and passes to what has no mark of that keeper") {
  const pid_t keeper = 4711;
  small_tree marked(to_limit({keeper, 1, false}));
  small_tree foreign(to_limit({keeper + 1, 1, false}));
  auto is_doomed = [](const std::vector<pid_t>& doomed, pid_t pid) {
    return std::ranges::find(doomed, pid) != doomed.end();
  };
  auto all_end = [](pid_t, const server_mark&) { return fate::end; };
  auto only = doomed_below(::getpid(), keeper, fate::none, all_end);
  CHECK(is_doomed(only, marked.child));
  CHECK(is_doomed(only, marked.grandchild));
  CHECK_FALSE(is_doomed(only, foreign.child));
  CHECK_FALSE(is_doomed(only, foreign.grandchild));
  auto kept = doomed_below(::getpid(), keeper, fate::end, [](pid_t, const server_mark&) { return fate::stay; });
  CHECK_FALSE(is_doomed(kept, marked.child));
  CHECK(is_doomed(kept, foreign.grandchild));
}
