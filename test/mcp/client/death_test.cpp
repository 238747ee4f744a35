// Servers that fail at any step: each call has one outcome and nothing is left behind.
#include "mcp/support/shared_bytes.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;
using box = supervisor_rig::outcome_box;

namespace {

enum class fate { exit_before, exit_after, die, half_line, close_stdout, hang, garbage };
constexpr fate fates[] = {fate::exit_before,  fate::exit_after, fate::die,    fate::half_line,
                          fate::close_stdout, fate::hang,       fate::garbage};

/// Returns the script of a server that fails in the way `f` at its message number `step`.
script doomed(const script& healthy, int step, fate f) {
  return [healthy, left = std::make_shared<int>(step), f](scripted_process& p, const message& m) {
    if ((*left)-- != 0) {
      if (*left >= 0 || f != fate::hang) healthy(p, m);
      return;
    }
    switch (f) {
      case fate::exit_before:
        return p.exit(1);
      case fate::exit_after:
        healthy(p, m);
        return p.exit(1);
      case fate::die:
        return p.die(SIGKILL);
      case fate::half_line:
        p.say_bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"res");
        return p.exit(0);
      case fate::close_stdout:
        p.ignores_stdin_end = true;
        return p.close_stdout();
      case fate::hang:
        p.ignores_stdin_end = p.ignores_sigterm = true;
        return;
      case fate::garbage:
        p.say("not json");
        p.say("{\"jsonrpc\":\"2.0\",\"id\":" + std::string(m.id.token().empty() ? "0" : m.id.token()) + "}");
        return;
    }
  };
}

}  // namespace

TEST_CASE("G1 G2 G5: whatever step a server fails at, each call has one outcome and the next life works") {
  for (const bool modern : {false, true})
    for (int step = 0; step < 7; ++step)
      for (const fate f : fates) {
        CAPTURE(modern);
        CAPTURE(step);
        CAPTURE(static_cast<int>(f));
        const auto bytes = byte_account::total();
        {
          supervisor_rig r;
          const auto healthy = modern ? modern_script() : legacy_script();
          auto o = server_named("srv");
          o.idle_stop = milliseconds(1000);
          o.start_timeout = milliseconds(3000);
          o.limits = {milliseconds(2000), milliseconds(4000)};
          r.launcher.add("srv", healthy);
          r.launcher.add("srv", doomed(healthy, step, f));
          r.launcher.add("srv", healthy);
          r.start({o});
          const auto owner = r.owner("srv__echo");
          r.advance(1000);
          r.turn();
          // Calls to the failing process: before, during and after its start.
          box boxes[6];
          for (int i = 0; i < 6; ++i) {
            r.call(*owner, boxes[i]);
            r.advance(i * 40);
          }
          r.advance(20'000);
          for (const auto& b : boxes) {
            CHECK(b.times == 1);
            if (b.last.type == call_outcome::kind::failed) CHECK(b.text().find("tool server \"srv\"") == 0);
          }
          CHECK(r.supervisor->open_calls() == 0);
          box again;
          r.call(*owner, again);
          r.advance(3000);
          CHECK(again.answered());
          int stopped = 0;
          r.supervisor->stop([&] { ++stopped; });
          r.advance(10'000);
          CHECK(stopped == 1);
          CHECK(r.launcher.alive() == 0);
        }
        CHECK(byte_account::total() == bytes);
      }
}

TEST_CASE("G20: stopping at any moment of any life ends every call once") {
  for (int at = 0; at < 40; ++at) {
    CAPTURE(at);
    supervisor_rig r;
    r.launcher.add(
        "a", legacy_script({"echo"}, [](scripted_process&, const message& m) { return m.method() == "tools/call"; }));
    r.launcher.add("b", legacy_script());
    r.launcher.add("b", scripted_launcher::setup([](scripted_process& p) { p.exit(1); }));
    r.start({server_named("a"), server_named("b")});
    const auto a = r.owner("a__echo"), b = r.owner("b__echo");
    std::vector<box> boxes(20);
    r.launcher.spawned[1]->exit(1);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      r.call(i % 2 == 0 ? *a : *b, boxes[i]);
      if (static_cast<int>(i) == at / 2) {
        if (at % 2 == 0) r.turn();
        r.supervisor->stop([] {});
      }
    }
    r.advance(10'000);
    for (const auto& x : boxes) CHECK(x.times == 1);
    CHECK(r.launcher.alive() == 0);
  }
}

TEST_CASE("a supervisor that goes away in the middle of everything leaves no process and no timer behind") {
  supervisor_rig r;
  r.launcher.add("a", legacy_script());
  r.launcher.add("b", script([](scripted_process&, const message&) {}));
  r.supervisor->apply(r.with_processes({server_named("a"), server_named("b")}));
  r.supervisor->when_settled(milliseconds(1000), [] {});
  r.turn();
  CHECK(r.launcher.alive() == 2);
  r.supervisor.reset();
  r.advance(100'000);
  CHECK(r.launcher.alive() == 0);
  CHECK(r.time.armed() == 0);
}
