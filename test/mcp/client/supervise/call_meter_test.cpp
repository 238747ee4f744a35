// Counts of calls and their durations.
#include "mcp/client/supervise/call_meter.hpp"

#include "test/mcp/client/supervisor_rig.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;
using std::chrono::microseconds;
using box = supervisor_rig::outcome_box;

namespace {

const time_point begun{std::chrono::hours(1)};

}  // namespace

TEST_CASE("a histogram knows each duration to a quarter of itself") {
  for (const std::int64_t us : {0, 1, 3, 4, 7, 8, 100, 999, 1'000, 65'536, 1'000'000, 60'000'000}) {
    duration_histogram one;
    one.add(microseconds(us));
    CHECK(one.quantile_us(0.95) >= us);
    CHECK(one.quantile_us(0.95) <= us + us / 4);
  }
  duration_histogram none;
  CHECK(none.quantile_us(0.5) == -1);
  duration_histogram longest;
  longest.add(std::chrono::hours(1000));
  CHECK(longest.quantile_us(1) > 3'600'000'000);
}

TEST_CASE("the 95th percentile is that of all but the slowest twentieth of the calls") {
  duration_histogram h;
  for (int i = 0; i < 95; ++i) h.add(microseconds(100));
  for (int i = 0; i < 5; ++i) h.add(microseconds(100'000));
  CHECK(h.quantile_us(0.95) < 130);
  CHECK(h.quantile_us(0.96) >= 100'000);
}

TEST_CASE("recent calls are those of the latest ten to twenty seconds") {
  call_meter m(begun);
  for (int i = 0; i < 20; ++i) m.ended(begun + milliseconds(500 * i), microseconds(50), false);
  CHECK(m.counts(begun + milliseconds(10'000)).per_second == doctest::Approx(2));
  CHECK(m.counts(begun + milliseconds(10'000)).calls == 20);
  CHECK(m.counts(begun + milliseconds(19'999)).p95_us >= 50);
  const auto later = m.counts(begun + milliseconds(60'000));
  CHECK(later.per_second == 0);
  CHECK(later.p95_us == -1);
  CHECK(later.calls == 20);
}

TEST_CASE("the first call of a server does not count as thousands in a second") {
  call_meter m(begun);
  m.ended(begun + milliseconds(1), microseconds(50), true);
  m.refused();
  const auto c = m.counts(begun + milliseconds(1));
  CHECK(c.per_second == doctest::Approx(1));
  CHECK(c.calls == 2);
  CHECK(c.failed == 2);
}

TEST_CASE("calls count as failed by their answer, but not those that their caller cancelled") {
  supervisor_rig r;
  int calls = 0;
  r.start("srv", legacy_script({"echo"}, [&calls](scripted_process& p, const message& m) {
            if (m.method() != "tools/call") return false;
            ++calls;
            if (calls == 1) p.answer(m, R"({"content":[],"isError":true})");
            if (calls == 2) p.answer(m, text_result("well"));
            return true;
          }));
  box failing, answered, cancelled;
  r.call(*r.owner("srv__echo"), failing);
  r.turn();
  CHECK(r.status().calls.failed == 1);
  r.call(*r.owner("srv__echo"), answered);
  r.turn();
  const auto ticket = r.call(*r.owner("srv__echo"), cancelled);
  r.turn();
  r.owner("srv__echo")->cancel(ticket, "enough");
  r.turn();
  CHECK(cancelled.failed());
  CHECK(r.status().calls.calls == 3);
  CHECK(r.status().calls.failed == 1);
}
