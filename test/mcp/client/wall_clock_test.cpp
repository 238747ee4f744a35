// Tool servers while the wall clock is set a day forward or back.
#include "test/mcp/client/supervisor_rig.hpp"

using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

namespace {

constexpr milliseconds day{86'400'000};

}  // namespace

TEST_CASE("G27: the clock is set in a call: its time limit stands") {
  for (const auto jump : {day, -day}) {
    supervisor_rig r;
    r.start("srv",
            legacy_script({"echo"}, [](scripted_process&, const message& m) { return m.method() == "tools/call"; }));
    supervisor_rig::outcome_box b;
    r.call(*r.owner("srv__echo"), b, R"({"name":"echo"})", call_limits{milliseconds(5000), milliseconds(9000)});
    r.turn();
    r.advance(2000);
    r.time.jump_wall(jump);
    r.advance(2999);
    CHECK(b.times == 0);
    r.advance(1);
    CHECK(b.failed());
    CHECK(b.last.failure.code == errc::timed_out);
  }
}

TEST_CASE("G27: the clock is set in the back-off of a server: it is started when it would have been") {
  std::vector<int> starts;
  for (const auto jump : {milliseconds(0), day, -day}) {
    supervisor_rig r;
    r.start("srv", legacy_script({"echo"}, [](scripted_process& p, const message& m) {
              if (m.method() != "notifications/initialized") return false;
              p.exit(1);
              return true;
            }));
    int waited = 0;
    for (; r.launcher.count("srv") < 5 && waited < 10'000; waited += 10) {
      r.time.jump_wall(jump);
      r.advance(10);
    }
    CHECK(waited < 10'000);
    starts.push_back(waited);
  }
  CHECK(starts[1] == starts[0]);
  CHECK(starts[2] == starts[0]);
}
