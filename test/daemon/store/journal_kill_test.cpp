// SIGKILL at random points: what was acknowledged is there, in order, and nothing else; also when recovery is killed.
#include "test/daemon/store/store_fixture.hpp"
#include "test/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::test;

namespace {

// Writes runs without end, four at a time, and tells each acknowledgement.
void write_for_ever(const std::string& path, pipe_pair& told, int first) {
  store s(path);
  int next = first;
  for (int worker = 0; worker < 4; ++worker)
    go(s.context, [&]() -> asio::awaitable<void> {
      for (;;) {
        const int n = next++;
        auto run = s.journal.open_run(std::to_string(n));
        const auto done = co_await write_run(*run, run_of(n), [&told, n](std::size_t count) {
          told.say(std::to_string(n) + " " + std::to_string(count));
        });
        if (!done) ::_exit(2);
      }
    });
  s.context.run();
}

using acknowledged = std::map<int, std::size_t>;

void note(const std::string& line, acknowledged& into) {
  std::istringstream words(line);
  int n = 0;
  std::size_t count = 0;
  words >> n >> count;
  into[n] = std::max(into[n], count);
}

// Kills the writer once it has told `after` acknowledgements.
void write_and_kill(const std::string& path, int first, int after, acknowledged& told) {
  pipe_pair pipe;
  const auto pid = in_child([&] { write_for_ever(path, pipe, first); });
  pipe.close(1);
  for (int i = 0; i < after; ++i) note(pipe.line(), told);
  ::kill(pid, SIGKILL);
  const int status = end_of(pid);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  for (auto line = pipe.line(); !line.empty(); line = pipe.line()) note(line, told);
}

// Every run is a prefix of what was written, with all that was acknowledged, and then what recovery appended, if it
// did.
std::size_t check(const std::string& path, const acknowledged& told) {
  std::size_t unfinished = 0, seen = 0;
  for (const auto& [row, records] : contents(path)) {
    const int n = std::stoi(row.run);
    const auto texts = texts_of(records), whole = texts_of(run_of(n));
    std::size_t same = 0;
    while (same < texts.size() && same < whole.size() && texts[same] == whole[same]) ++same;
    const auto found = told.find(n);
    if (found != told.end()) {
      ++seen;
      CHECK(same >= found->second);
    }
    if (row.ended_ms == 0) {
      ++unfinished;
      CHECK(same == texts.size());
    } else {
      CHECK(fault_of(records) == "");
      if (same < texts.size()) {
        const auto rest = texts_of(fold(records, same).recovery());
        CHECK(std::vector<std::string>(texts.begin() + static_cast<std::ptrdiff_t>(same), texts.end()) == rest);
      }
    }
  }
  CHECK(seen == told.size());
  return unfinished;
}

// A quarter of the points, in as many lives of a few files.
void kill_many_times(unsigned seed) {
  const char* more = std::getenv("MCPBX_KILLS");
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> after(1, 100), which(1, 4);
  constexpr int kills = 5;
  const int files = std::max(1, (more != nullptr ? std::atoi(more) : mcpbx::test::sanitized ? 40 : 200) / 4 / kills);
  for (int i = 0; i < files; ++i) {
    folder f;
    acknowledged told;
    for (int k = 0; k < kills; ++k) {
      CAPTURE(i);
      CAPTURE(k);
      write_and_kill(f.file(), k * 1'000, after(random), told);
      const auto unfinished = check(f.file(), told);
      CHECK(unfinished <= 4);

      // A recovery that dies before it closes its n-th run; with fewer runs to close it is whole.
      int left = which(random);
      const auto pid = in_child([&] {
        store s(f.file(), [&left](const auto& records, bool same_process) {
          if (--left == 0) ::raise(SIGKILL);
          return recovery_of(records, same_process);
        });
        ::_exit(s.write(std::to_string(k * 1'000 + 900), run_of(k * 1'000 + 900)).has_value() ? 0 : 1);
      });
      const int status = end_of(pid);
      CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
      CHECK(check(f.file(), told) <= unfinished);
    }
    {
      store s(f.file());
      CHECK(s.write("9900", run_of(9'900)).has_value());
    }
    CHECK(check(f.file(), told) == 0);
  }
}

}  // namespace

// Four times, so that they can run side by side: 200 points in all, or as many as MCPBX_KILLS says.
TEST_CASE("G23: what was acknowledged is there after SIGKILL at any point, also of recovery (1 of 4)") {
  kill_many_times(20'251'120);
}
TEST_CASE("G23: what was acknowledged is there after SIGKILL at any point, also of recovery (2 of 4)") {
  kill_many_times(20'251'121);
}
TEST_CASE("G23: what was acknowledged is there after SIGKILL at any point, also of recovery (3 of 4)") {
  kill_many_times(20'251'122);
}
TEST_CASE("G23: what was acknowledged is there after SIGKILL at any point, also of recovery (4 of 4)") {
  kill_many_times(20'251'123);
}
