// The rig itself: both ends can talk in all four combinations.
#include "test/mcp/bridging/bridge_caller.hpp"
#include "test/mcp/bridging/bridge_server.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::test;

TEST_CASE("the rig passes a call in all four combinations and counts its messages") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    b.add_server("srv");
    b.start();
    auto& c = b.add_caller("caller", "uid:1");
    c.open();
    b.pass();
    b.count_steps();
    b.record();
    const auto id = c.call("echo", R"({"text":"hello"})");
    b.pass();
    CHECK(member_at(c.answer(id), {"result", "content"}) == R"([{"type":"text","text":"srv hello"}])");
    CHECK(b.steps() == 4);
    CHECK(b.recorded().size() == 4);
    CHECK(c.wrong.empty());
    CHECK(b.servers().front()->life().stray.empty());
  }
}
