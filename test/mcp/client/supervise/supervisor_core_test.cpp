// Rules of starting, restarting and stopping, on a manual clock.
#include "mcp/client/supervise/supervisor_core.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::supervise;
using command = supervisor_core::command;

namespace {

class dice final : public random_source {
 public:
  explicit dice(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

/// A core with its clock. Keeps all commands, with their times since the beginning.
struct rig {
  explicit rig(supervisor_core::options o = {}, std::uint64_t seed = 1) : random(seed), core(o, random) {}
  dice random;
  supervisor_core core;
  time_point now = time_point{} + std::chrono::hours(1);
  std::vector<std::pair<command, milliseconds>> done;
  time_point begun = now;

  void obey() {
    for (auto c = core.next_command(now); c != command::none; c = core.next_command(now))
      done.emplace_back(c, std::chrono::duration_cast<milliseconds>(now - begun));
  }
  void advance(milliseconds by) {
    const auto target = now + by;
    obey();
    while (core.next_time() <= target) {
      now = std::max(now, core.next_time());
      obey();
    }
    now = target;
  }
  int count(command c) const {
    return static_cast<int>(std::ranges::count(done, c, &std::pair<command, milliseconds>::first));
  }
  void up() {
    core.start(now);
    obey();
    core.ready(now);
  }
  milliseconds wait() const { return std::chrono::ceil<milliseconds>(core.next_try() - now); }
};

}  // namespace

TEST_CASE("G2: the first restart is at once, then 0.2 s doubled each time with 20 % jitter up to 60 s") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    rig r({}, seed);
    r.up();
    r.core.gone(r.now, 0);
    CHECK(r.core.next_try() == r.now);
    double nominal = 200;
    for (int n = 0; n < 14; ++n) {
      r.advance(r.wait());
      r.core.ready(r.now);
      r.core.gone(r.now, 0);
      const auto wait = static_cast<double>(r.wait().count());
      CHECK(wait >= nominal * 0.8 - 1);
      CHECK(wait <= std::min(nominal * 1.2, 60'000.0) + 1);
      nominal = std::min(nominal * 2, 60'000.0);
    }
  }
}

TEST_CASE("G2: a server that exits after the handshake is spawned at most 6 times in 5 s") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    rig r({}, seed);
    r.core.start(r.now);
    const auto end = r.now + std::chrono::seconds(5);
    int spawns = 0;
    while (r.now < end) {
      r.obey();
      if (r.core.state() != server_state::ready && r.core.next_try() == never) {
        ++spawns;
        r.core.ready(r.now);
        r.core.gone(r.now, 0);
      }
      r.now = std::max(r.now, r.core.next_try());
    }
    REQUIRE(spawns <= 6);
    REQUIRE(spawns >= 5);
  }
}

TEST_CASE("G2: five exits within 10 s show as a crash loop, and the tries go on") {
  rig r;
  r.up();
  for (int i = 1; i <= 5; ++i) {
    CHECK(r.core.state() != server_state::crash_loop);
    r.core.gone(r.now, 0);
    if (i < 5) {
      CHECK(r.core.state() == server_state::restarting);
      r.advance(r.wait());
      r.core.ready(r.now);
    }
  }
  CHECK(r.core.state() == server_state::crash_loop);
  CHECK(r.core.next_try() != never);
  for (int i = 0; i < 20; ++i) {
    r.advance(r.wait());
    r.core.gone(r.now, 0);
    CHECK(r.core.state() == server_state::crash_loop);
  }
  SUBCASE("60 s of health end it") {
    r.advance(r.wait());
    r.core.ready(r.now);
    CHECK(r.core.state() == server_state::ready);
    r.advance(milliseconds(60'000));
    r.core.gone(r.now, 0);
    CHECK(r.core.state() == server_state::restarting);
    CHECK(r.core.next_try() == r.now);
  }
  SUBCASE("a manual restart works at once and starts over") {
    r.core.restart(r.now);
    CHECK(r.core.next_try() == r.now);
    r.advance(milliseconds(0));
    r.core.ready(r.now);
    CHECK(r.core.state() == server_state::ready);
    r.core.gone(r.now, 0);
    CHECK(r.core.state() == server_state::restarting);
    CHECK(r.core.next_try() == r.now);
  }
  SUBCASE("less than 60 s of health do not") {
    r.advance(r.wait());
    r.core.ready(r.now);
    r.advance(milliseconds(59'000));
    r.core.gone(r.now, 0);
    CHECK(r.core.state() == server_state::crash_loop);
    CHECK(r.wait() > milliseconds(1000));
  }
}

TEST_CASE("G2: fifty servers that die together do not restart within the same 100 ms") {
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<rig>> all;
    std::vector<time_point> starts;
    for (std::uint64_t i = 0; i < 50; ++i) {
      auto r = std::make_unique<rig>(supervisor_core::options{}, i);
      r->up();
      if (round == 1) {  // the servers died once before
        r->core.gone(r->now, 0);
        r->advance(milliseconds(0));
        r->core.ready(r->now);
      }
      r->core.gone(r->now, i);
      starts.push_back(r->core.next_try());
      all.push_back(std::move(r));
    }
    std::ranges::sort(starts);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto together = std::ranges::count_if(
          starts, [&](time_point t) { return t >= starts[i] && t - starts[i] < milliseconds(100); });
      CHECK(together <= 25);
    }
    CHECK(starts.back() - all[0]->now <= std::chrono::seconds(1));
  }
}

TEST_CASE("G8: a server that cannot be started shows as failed and is tried again") {
  rig r;
  r.core.start(r.now);
  CHECK(r.core.state() == server_state::starting);
  for (int i = 0; i < 12; ++i) {
    r.advance(r.core.next_try() == never ? milliseconds(0) : r.wait());
    r.core.not_opened(r.now, 0, true);
    CHECK(r.core.state() == server_state::failed);
    CHECK(r.core.next_try() != never);
    CHECK(r.core.start_failed());
  }
  CHECK(r.wait() >= milliseconds(48'000));
  r.advance(r.wait());
  r.core.ready(r.now);
  CHECK(r.core.state() == server_state::ready);
  CHECK_FALSE(r.core.start_failed());
}

TEST_CASE("G49: a retry is starting, the process of a failed start is restarting until it is gone") {
  rig r;
  r.core.start(r.now);
  r.advance(milliseconds(0));
  for (int i = 0; i < 3; ++i) {
    CHECK(r.core.state() == server_state::starting);
    CHECK(r.core.start_failed() == (i > 0));
    r.core.refused(r.now);
    r.obey();
    CHECK(r.core.state() == server_state::restarting);
    CHECK(r.core.start_failed());
    r.core.gone(r.now, 0);
    CHECK(r.core.state() == server_state::failed);
    CHECK(r.core.next_try() != never);
    r.advance(r.wait());
  }
  SUBCASE("a manual restart makes it a first start again") {
    r.core.restart(r.now);
    CHECK_FALSE(r.core.start_failed());
  }
  SUBCASE("an end of the process is no failed start") {
    r.core.gone(r.now, 0);
    CHECK(r.core.state() == server_state::restarting);
    CHECK_FALSE(r.core.start_failed());
  }
  SUBCASE("and a stop ends it all") {
    r.core.stop(r.now);
    CHECK(r.core.state() == server_state::stopped);
    r.core.gone(r.now, 0);
    CHECK_FALSE(r.core.start_failed());
  }
}

TEST_CASE("G7: a server that does not become ready in time is ended and tried again") {
  rig r({.start_timeout = milliseconds(1000)});
  r.core.start(r.now);
  r.advance(milliseconds(999));
  CHECK(r.done.size() == 1);
  r.advance(milliseconds(1));
  CHECK(r.count(command::start_timed_out) == 1);
  CHECK(r.count(command::insist) == 1);
  CHECK(r.core.state() == server_state::restarting);
  CHECK(r.core.start_failed());
  CHECK(r.core.next_try() == never);
  r.advance(milliseconds(2000));
  CHECK(r.count(command::force) == 1);
  r.core.gone(r.now, 0);
  CHECK(r.core.next_try() == r.now);
}

TEST_CASE("G20: a stop closes stdin, then SIGTERM 1 s later, SIGKILL 3 s later, and is over within 10 s") {
  rig r;
  r.up();
  r.done.clear();
  r.begun = r.now;
  r.core.stop(r.now);
  r.advance(milliseconds(60'000));
  REQUIRE(r.done.size() == 4);
  CHECK(r.done[0] == std::pair(command::ask_to_end, milliseconds(0)));
  CHECK(r.done[1] == std::pair(command::insist, milliseconds(1000)));
  CHECK(r.done[2] == std::pair(command::force, milliseconds(4000)));
  CHECK(r.done[3] == std::pair(command::abandon, milliseconds(6000)));
  CHECK_FALSE(r.core.ended());
  r.core.gone(r.now, 0);
  CHECK(r.core.ended());
  CHECK(r.core.state() == server_state::stopped);
  r.core.restart(r.now);
  r.core.wake(r.now);
  r.advance(milliseconds(60'000));
  CHECK(r.count(command::open) == 0);
}

TEST_CASE("G20: a process that exits on its way spares itself the rest") {
  rig r;
  r.up();
  r.core.stop(r.now);
  r.advance(milliseconds(500));
  r.core.gone(r.now, 0);
  r.advance(milliseconds(60'000));
  CHECK(r.count(command::insist) == 0);
  CHECK(r.core.ended());
}

TEST_CASE("G5: a lost server is terminated at once, killed 2 s later, and started again") {
  rig r;
  r.up();
  r.done.clear();
  r.begun = r.now;
  r.core.lost(r.now);
  r.advance(milliseconds(3000));
  CHECK(r.done[1] == std::pair(command::insist, milliseconds(0)));
  CHECK(r.done[2] == std::pair(command::force, milliseconds(2000)));
  CHECK(r.core.state() == server_state::restarting);
  r.core.gone(r.now, 0);
  CHECK(r.core.next_try() == r.now);
}

TEST_CASE("a lazy server waits to be woken and sleeps again when idle") {
  rig r({.lazy = true, .idle_stop = milliseconds(5000)});
  r.core.start(r.now);
  r.advance(milliseconds(100'000));
  CHECK(r.done.empty());
  CHECK(r.core.state() == server_state::lazy);
  r.core.wake(r.now);
  r.advance(milliseconds(0));
  CHECK(r.count(command::open) == 1);
  r.core.ready(r.now);
  r.core.busy(true, r.now);
  r.advance(milliseconds(100'000));
  CHECK(r.core.state() == server_state::ready);
  r.core.busy(false, r.now);
  r.advance(milliseconds(4999));
  CHECK(r.core.state() == server_state::ready);
  r.advance(milliseconds(1));
  CHECK(r.core.state() == server_state::lazy);
  CHECK(r.count(command::ask_to_end) == 1);
  SUBCASE("and is woken while it goes to sleep") {
    r.core.wake(r.now);
    r.core.gone(r.now, 0);
    r.advance(milliseconds(0));
    CHECK(r.count(command::open) == 2);
  }
  SUBCASE("and stays asleep otherwise") {
    r.core.gone(r.now, 0);
    r.advance(milliseconds(100'000));
    CHECK(r.count(command::open) == 1);
    CHECK(r.core.restarts() == 0);
  }
}

TEST_CASE("a disabled server never starts") {
  rig r({.disabled = true});
  r.core.start(r.now);
  r.core.wake(r.now);
  r.core.restart(r.now);
  r.advance(milliseconds(100'000));
  CHECK(r.done.empty());
  CHECK(r.core.state() == server_state::disabled);
  CHECK(r.core.ended());
}

TEST_CASE("restarts are counted, first starts and wakings are not") {
  rig r;
  r.up();
  CHECK(r.core.restarts() == 0);
  r.core.gone(r.now, 0);
  r.advance(milliseconds(0));
  CHECK(r.core.restarts() == 1);
  r.core.ready(r.now);
  r.core.restart(r.now);
  r.advance(milliseconds(0));
  r.core.gone(r.now, 0);
  r.advance(milliseconds(0));
  CHECK(r.core.restarts() == 2);
}
