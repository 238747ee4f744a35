// Deep runs and many runs: a thousand levels in constant stack, and a hundred runs at once.
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

run_limits deep() {
  run_limits l;
  l.max_rounds = 5000;
  l.max_calls = 5000;
  l.timeout_ms = 0;
  return l;
}

}  // namespace

TEST_CASE("L4: depth 1000 works with constant stack and shared messages") {
  fixture f;
  f.model->endless = [](std::size_t i) {
    return i < 1000 ? calls({call("c" + std::to_string(i), "srv__lookup")}) : says("at last");
  };
  f.run(fixture::ask(deep()));
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("rounds") == "1001");
  CHECK(f.runs->counts().depth[7] == 1);
  const auto [low, high] = std::ranges::minmax(f.model->stack);
  CHECK(high - low < 4096);
  // The last request begins with the messages of the first one: pointers are shared, no text is copied.
  const auto& first = f.model->requests.front().messages;
  const auto& last = f.model->requests.back().messages;
  CHECK(last.size() == 2002);
  CHECK(std::equal(first.begin(), first.end(), last.begin()));
}

TEST_CASE("G32: the property of the fold holds at depth 50") {
  fixture f;
  f.model->endless = [](std::size_t i) {
    return i < 50 ? calls({call("c" + std::to_string(i), "srv__lookup")}) : says("at last");
  };
  f.run(fixture::ask(deep()));
  const auto& records = f.written();
  std::size_t model_calls = 0;
  for (std::size_t count = 1; count <= records.size(); ++count) {
    const auto core = fold(records, count);
    CHECK(fault_of(core.facts().messages) == "");
    for (const auto& c : core.commands())
      model_calls += std::holds_alternative<daemon::core::command::call_model>(c) ? 1 : 0;
  }
  CHECK(model_calls == 51);
}

TEST_CASE("runner: a hundred runs at once do not mix") {
  fixture f;
  std::vector<std::unique_ptr<caller>> callers;
  f.model->endless = [](std::size_t i) {
    return i < 1000 ? calls({call("c" + std::to_string(i), "srv__lookup")}) : says("done");
  };
  for (int i = 0; i < 100; ++i) {
    callers.push_back(std::make_unique<caller>());
    auto r = fixture::ask();
    r.run = "run" + std::to_string(i);
    REQUIRE(f.runs->start(std::move(r), *callers.back()).has_value());
  }
  f.settle();
  for (int i = 0; i < 100; ++i) {
    const auto& c = *callers[static_cast<std::size_t>(i)];
    CHECK(c.done.size() == 1);
    CHECK(c.member("run") == "run" + std::to_string(i));
    CHECK(c.member("rounds") == "11");
  }
  CHECK(f.runs->active() == 0);
}
