// Each flow with each event before each step, in all four combinations; and what may grow or go astray over several
// conversations.
#include "test/mcp/bridging/matrix.hpp"

#include "mcp/support/shared_bytes.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::test;

namespace {

/// Plays all flows with the events whose names begin so.
void disturb_all(std::string_view who) {
  const char* only = std::getenv("MATRIX");
  for (const event& e : events()) {
    if (!e.name.starts_with(who)) continue;
    for (const flow& f : flows()) {
      if (only && e.name.find(only) == std::string::npos && f.name.find(only) == std::string::npos) continue;
      CAPTURE(e.name);
      CAPTURE(f.name);
      CHECK(disturb(f, e) > 0);
    }
  }
}

}  // namespace

TEST_CASE("G1: whatever a tool server does at any step of a conversation nothing is left of it") {
  disturb_all("the server");
}
TEST_CASE("G16: whatever a caller does at any step of a conversation nothing is left of it") {
  disturb_all("the caller");
}
TEST_CASE("G13: whatever else happens at any step of a conversation disturbs no answer and nothing is left of it") {
  disturb_all("meanwhile");
}

TEST_CASE("the matrix has every event in one of its groups") {
  for (const event& e : events())
    CHECK((e.name.starts_with("the server") || e.name.starts_with("the caller") || e.name.starts_with("meanwhile")));
}

TEST_CASE("a list of which one item after the other changes costs no more bytes in the end") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    auto& srv = b.add_server("srv");
    for (int n = 0; n < 30; ++n) srv.add_tool("tool" + std::to_string(n));
    b.start();
    const auto change = [&](std::size_t n, const std::string& more) {
      srv.tools.at(n) = tool_definition("tool" + std::to_string(n), more);
      srv.change("tools");
      b.pass(1'200);
    };
    change(0, R"(,"title":"0")");
    const std::size_t before = byte_account::total();
    for (std::size_t n = 1; n < 30; ++n) change(n, R"(,"title":"1")");
    CHECK(byte_account::total() < 2 * before);
  }
}

TEST_CASE("G13: a requestState of mcpbx reaches no new server before and after it was used") {
  bridge b({.new_caller = true, .new_server = false});
  auto& srv = b.add_server("srv");
  srv.add_tool("ask");
  auto& modern = b.add_server("m", true);
  modern.add_tool("ask");
  b.start();
  auto& c = b.add_caller("caller", "uid:1");
  c.capabilities = R"({"elicitation":{}})";
  const auto asked = c.call("ask");
  b.pass(100);
  const std::string state = member_at(c.answer(asked), {"result", "requestState"});
  REQUIRE_FALSE(state.empty());
  const std::string retry = R"(,"arguments":{},"inputResponses":{"q1":{"action":"accept"}},"requestState":)" + state;
  const auto astray = [&] {
    const auto id = c.ask("tools/call", R"("name":"m__ask")" + retry);
    b.pass(100);
    CHECK(c.error_code(id) == "-32602");
    CHECK(modern.got("tools/call").empty());
  };
  astray();
  const auto right = c.ask("tools/call", R"("name":"ask")" + retry);
  b.pass(100);
  CHECK(member_at(c.result(right), {"resultType"}) == R"("complete")");
  astray();
}
