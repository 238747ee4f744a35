// The table of held calls: a state is good once, for one request of one caller, for a limited time, within bounds.
#include "mcp/server/held_calls.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace held_calls_test {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::callers;
using namespace mcpbx::test;

struct waiting final : held_call {
  void give_up(std::string_view why) override { given_up.emplace_back(why); }
  void resume(held_retry) override {}
  std::vector<std::string> given_up;
};

held_request of_tool(std::string_view principal = "uid:1", std::string_view arguments = R"({"a":1,"b":[2]})") {
  return {principal, "tools/call", "t", raw_json::literal(arguments)};
}

struct table {
  explicit table(held_calls::options o = {}) : options(o) {}
  result<held_calls::place> hold(const std::shared_ptr<waiting>& call, const held_request& r = of_tool(),
                                 std::size_t bytes = 10) {
    return calls.hold(call, r, bytes);
  }
  std::string refusal(std::string_view state, const held_request& r = of_tool()) {
    const auto taken = calls.take(state, r);
    return taken ? "" : taken.error().message;
  }
  manual_time clock;
  held_calls::options options;
  held_calls calls{clock, options};
};

constexpr std::string_view used = "used already, or its time is over";
constexpr std::string_view another = "it belongs to another request";

bool says(const std::string& sentence, std::string_view part) {
  return sentence.starts_with("params.requestState: ") && sentence.find(part) != std::string::npos;
}

TEST_CASE("held_calls: a state gives its call back once") {
  table t;
  const auto call = std::make_shared<waiting>();
  const auto place = t.hold(call);
  REQUIRE(place);
  CHECK(t.calls.is_own(place->state));
  CHECK(t.calls.bytes() == 10);
  CHECK(t.calls.take(place->state, of_tool()).value() == call);
  CHECK(says(t.refusal(place->state), used));
  CHECK(t.calls.size() == 0);
  CHECK(t.calls.bytes() == 0);
  CHECK(t.clock.armed() == 0);
  CHECK(call->given_up.empty());
  CHECK(call.use_count() == 1);
}

TEST_CASE(
    "G13: held_calls: a state of another principal, method, name or other arguments is refused and the call stays") {
  table t;
  const auto place = t.hold(std::make_shared<waiting>());
  REQUIRE(place);
  const raw_json arguments = of_tool().arguments;
  CHECK(says(t.refusal(place->state, {"uid:2", "tools/call", "t", arguments}), another));
  CHECK(says(t.refusal(place->state, {"", "tools/call", "t", arguments}), another));
  CHECK(says(t.refusal(place->state, {"uid:1", "prompts/get", "t", arguments}), another));
  CHECK(says(t.refusal(place->state, {"uid:1", "tools/call", "u", arguments}), another));
  CHECK(says(t.refusal(place->state, {"uid:1", "tools/call", "t", {}}), another));
  CHECK(says(t.refusal(place->state, {"uid:1tools/call", "", "t", arguments}), another));
  for (const std::string_view other : {R"({"a":1,"b":[2.0]})", R"({"a":1})", R"({"a":1,"b":[2],"c":null})", "{}"})
    CHECK(says(t.refusal(place->state, of_tool("uid:1", other)), another));
  // The same arguments in another spelling are the same.
  CHECK(t.calls.take(place->state, of_tool("uid:1", R"({ "b": [2], "\u0061": 1 })")));
}

TEST_CASE("G13: held_calls: a forged, cut or foreign state and one of an earlier daemon open nothing") {
  table t, restarted;
  const auto place = t.hold(std::make_shared<waiting>());
  REQUIRE(place);
  for (const std::string& state : {std::string(), std::string("x"), place->state + "A", place->state + "\n",
                                   place->state.substr(0, place->state.size() - 1), std::string(100'000, 'A')})
    CHECK(t.refusal(state) == held_calls::foreign);
  REQUIRE(restarted.hold(std::make_shared<waiting>()));
  CHECK_FALSE(restarted.calls.is_own(place->state));
  CHECK(restarted.refusal(place->state) == held_calls::foreign);
  CHECK(t.calls.size() == 1);
}

TEST_CASE("held_calls: a call that nobody asks for in time is given up") {
  table t({.expiry = milliseconds(600'000)});
  const auto first = std::make_shared<waiting>(), second = std::make_shared<waiting>();
  const auto one = t.hold(first);
  t.clock.advance(milliseconds(1000));
  const auto two = t.hold(second);
  t.clock.advance(milliseconds(598'999));
  CHECK(first->given_up.empty());
  t.clock.advance(milliseconds(1));
  CHECK(first->given_up == std::vector<std::string>{"its caller did not come back with answers within 600 s"});
  CHECK(second->given_up.empty());
  CHECK(says(t.refusal(one->state), used));
  CHECK(t.calls.take(two->state, of_tool()));
  CHECK(t.clock.armed() == 0);
}

TEST_CASE("G17: held_calls: number, number per principal and bytes are bounded and room comes back") {
  table t({.max_calls = 3, .max_per_principal = 2, .max_bytes = 100});
  const auto call = std::make_shared<waiting>();
  const auto one = t.hold(call);
  REQUIRE(t.hold(call));
  CHECK(t.hold(call).error().code == errc::limit);
  CHECK(t.hold(call, of_tool("uid:2"), 81).error().code == errc::limit);
  const auto third = t.hold(call, of_tool("uid:2"), 80);
  REQUIRE(third);
  CHECK(t.hold(call, of_tool("uid:3"), 0).error().code == errc::limit);
  CHECK_FALSE(t.calls.keep(one->id, 1));
  t.calls.release(third->id);
  t.calls.release(third->id);
  CHECK(t.calls.keep(one->id, 80));
  CHECK_FALSE(t.calls.keep(third->id, 0));
  CHECK(t.calls.bytes() == 100);
  t.calls.release(one->id);
  CHECK(t.hold(call));
}

TEST_CASE("G18: held_calls: one caller cannot take the bytes of all others") {
  table t({.max_bytes = 100, .max_bytes_per_principal = 60});
  const auto call = std::make_shared<waiting>();
  const auto one = t.hold(call, of_tool(), 50);
  REQUIRE(one);
  CHECK(t.hold(call, of_tool(), 11).error().code == errc::limit);
  CHECK_FALSE(t.calls.keep(one->id, 11));
  CHECK(t.calls.keep(one->id, 10));
  CHECK(t.hold(call, of_tool("uid:2"), 40));
  t.calls.release(one->id);
  CHECK(t.hold(call, of_tool(), 60));
}

TEST_CASE("G20: held_calls: closing gives all calls up and takes no more") {
  table t;
  const auto call = std::make_shared<waiting>();
  const auto place = t.hold(call);
  t.calls.close("mcpbx is stopping");
  CHECK(call->given_up == std::vector<std::string>{"mcpbx is stopping"});
  CHECK(t.hold(call).error().code == errc::unavailable);
  CHECK(says(t.refusal(place->state), used));
}

TEST_CASE("held_calls: a call may go back into the table while others are given up") {
  struct stubborn final : held_call {
    explicit stubborn(held_calls& c) : calls(c) {}
    void give_up(std::string_view) override {
      ++times;
      calls.release(1);
      (void)calls.hold(std::make_shared<waiting>(), of_tool(), 1);
    }
    void resume(held_retry) override {}
    held_calls& calls;
    int times = 0;
  };
  table t;
  const auto call = std::make_shared<stubborn>(t.calls);
  REQUIRE(t.calls.hold(call, of_tool(), 1));
  t.clock.advance(t.options.expiry);
  CHECK(call->times == 1);
  CHECK(t.calls.size() == 1);
}

}  // namespace held_calls_test
