// The gate in front of the catalog: lists count once the gate has decided about them.
#include "mcp/client/catalog/definition_gate.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;
using words = std::vector<std::string>;

namespace {

/// A gate that decides about tools when the test says so, and offers all else.
struct slow_gate final : definition_gate {
  struct question {
    std::string server;
    std::size_t tools = 0;
    std::function<void(definition_decision)> decided;
  };
  void judge(const std::string& server, const feature_kind& kind, feature_list tools,
             std::function<void(definition_decision)> decided) override {
    if (kind.id != kind_id::tools) return decided({});
    asked.push_back({server, tools->size(), std::move(decided)});
  }
  void settled() override { ++times_settled; }
  std::vector<question> asked;
  int times_settled = 0;
};

definition_decision without(const std::string& name) {
  auto all = std::make_shared<withheld_names>();
  all->emplace(name, std::make_shared<const std::string>("it changed"));
  return {std::move(all), "one tool changed"};
}

struct gated_rig : supervisor_rig {
  slow_gate gate;
  words tools{"a", "b"};

  gated_rig() {
    auto o = options();
    o.gate = &gate;
    supervisor = std::make_unique<mcp::supervise::supervisor>(time, random, o);
    launcher.add("s", [this](scripted_process& p, const message& m) { legacy_script(tools)(p, m); });
    start({server_named("s")});
  }
  ~gated_rig() { supervisor.reset(); }  // destroyed before its gate
  void change(words now) {
    tools = std::move(now);
    launcher.spawned.back()->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    advance(2'000);
  }
};

}  // namespace

TEST_CASE("G37: nothing is offered, and nobody told that all has settled, before a list was decided about") {
  gated_rig r;
  CHECK(r.status().state == server_state::starting);  // only a server that can be called is ready
  REQUIRE(r.gate.asked.size() == 1);
  CHECK(r.gate.asked[0].server == "s");
  CHECK(r.gate.asked[0].tools == 2);
  int settled = 0, late = 0;
  r.supervisor->when_settled(milliseconds(5'000), [&] { ++settled; });
  r.supervisor->when_settled(milliseconds(10), [&] { ++late; });
  r.advance(10);
  CHECK(settled == 0);
  CHECK(late == 1);
  CHECK(r.names().empty());
  r.gate.asked[0].decided({});
  r.turn();
  CHECK(settled == 1);
  CHECK(r.status().state == server_state::ready);
  CHECK(r.names() == words{"s__a", "s__b"});
}

TEST_CASE("G37: what is withheld is told in the status, and an approval brings it back with one change") {
  gated_rig r;
  int changes = 0;
  const auto subscription = r.supervisor->on_catalog_change([&](const feature_kind&) { ++changes; });
  r.gate.asked[0].decided(without("a"));
  r.turn();
  CHECK(changes == 1);
  CHECK(r.names() == words{"s__b"});
  CHECK(r.supervisor->snapshot()->find_withheld("s__a"));
  CHECK(r.status().withheld == 1);
  CHECK(r.status().tools == 2);
  CHECK(r.status().pin_notice == "one tool changed");
  r.gate.asked[0].decided({});
  r.turn();
  CHECK(changes == 2);
  CHECK(r.names() == words{"s__a", "s__b"});
  CHECK(r.status().withheld == 0);
  CHECK(r.status().pin_notice == "");
}

TEST_CASE("G37: a new list counts when it was decided about, and what is said of an older one does not") {
  gated_rig r;
  r.gate.asked[0].decided({});
  r.turn();
  r.change({"a", "c"});
  REQUIRE(r.gate.asked.size() == 2);
  CHECK(r.names() == words{"s__a", "s__b"});
  r.gate.asked[0].decided(without("b"));
  r.turn();
  CHECK(r.names() == words{"s__a", "s__b"});
  r.gate.asked[1].decided(without("c"));
  r.turn();
  CHECK(r.names() == words{"s__a"});
}

TEST_CASE("G37: a decision that comes when the supervisor is gone is nobody's") {
  gated_rig r;
  r.supervisor.reset();
  r.gate.asked[0].decided({});
}

TEST_CASE("G38: the gate is told once that no server is starting for the first time any more") {
  gated_rig r;
  CHECK(r.gate.times_settled == 1);
  r.gate.asked[0].decided({});
  r.change({"c"});
  CHECK(r.gate.times_settled == 1);
}
