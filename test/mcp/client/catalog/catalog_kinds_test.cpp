// The catalog with more kinds than tools, from the lists of servers to the users of the catalog.
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/protocol/tools.hpp"
#include "test/mcp/client/supervisor_rig.hpp"
#include "test/support/more_kinds.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;

namespace {

feature_list list_of(const feature_kind& kind, const std::vector<std::string>& definitions) {
  auto list = std::make_shared<std::vector<feature_item>>();
  for (const auto& d : definitions) list->push_back(*kind.read(raw_json::own(d)));
  return list;
}

std::string note(const std::string& name, const std::string& more = "") {
  return R"({"x":1,"name":")" + name + "\"" + more + "}";
}
std::string page_at(const std::string& uri) {
  return R"({"uri":")" + uri + "\"}";
}

catalog_builder two_servers() {
  return catalog_builder({{.name = "a", .tools = {}, .owner = {}}, {.name = "b", .tools = {}, .owner = {}}},
                         more_kinds());
}

}  // namespace

TEST_CASE("a kind whose keys are prefixed is listed in the order of the servers, with the key replaced") {
  auto b = two_servers();
  b.set_list(1, notes_kind(), list_of(notes_kind(), {note("n")}));
  b.set_list(0, notes_kind(), list_of(notes_kind(), {note("n"), note("m")}));
  const auto c = b.build();
  CHECK(c->list(notes_kind()).text() ==
        R"({"notes":[{"x":1,"name":"a__n"},{"x":1,"name":"a__m"},{"x":1,"name":"b__n"}]})");
  const auto found = c->find(notes_kind(), "b__n");
  REQUIRE(found);
  CHECK(found->server == "b");
  CHECK(found->own_key == "n");
  CHECK(found->definition.text() == note("n"));
  CHECK_FALSE(c->find(notes_kind(), "n"));
  CHECK(c->list(tool_kind()).text() == R"({"tools":[]})");
  CHECK(c->list(pages_kind()).text() == R"({"pages":[]})");
  CHECK(c->list(notes_kind()).text().data() == c->list(notes_kind()).text().data());
}

TEST_CASE("of two servers with one URI the first keeps it and that of the other says whose it is") {
  auto b = two_servers();
  b.set_list(0, pages_kind(), list_of(pages_kind(), {page_at("p:1")}));
  b.set_list(1, pages_kind(), list_of(pages_kind(), {page_at("p:1"), page_at("p:2")}));
  const auto c = b.build();
  CHECK(c->list(pages_kind()).text() == R"({"pages":[{"uri":"p:1"},{"uri":"mcpbx://b/p:1"},{"uri":"p:2"}]})");
  CHECK(c->find(pages_kind(), "p:1")->server == "a");
  CHECK(c->find(pages_kind(), "mcpbx://b/p:1")->own_key == "p:1");
  CHECK(c->dropped().empty());
  b.set_list(0, pages_kind(), list_of(pages_kind(), {}));
  CHECK(b.build()->find(pages_kind(), "p:1")->server == "b");
}

TEST_CASE("a snapshot shares what did not change and tells which kinds did") {
  auto b = two_servers();
  b.set_list(0, notes_kind(), list_of(notes_kind(), {note("n"), note("m")}));
  b.set_list(0, pages_kind(), list_of(pages_kind(), {page_at("p:1")}));
  const auto before = b.build();
  b.set_list(0, notes_kind(), list_of(notes_kind(), {note("n"), note("m")}));  // the same bytes from a restarted server
  CHECK(b.build() == before);
  b.set_list(0, notes_kind(), list_of(notes_kind(), {note("n"), note("m", R"(,"y":2)")}));
  const auto after = b.build();
  CHECK(after->revision() == before->revision() + 1);
  CHECK(after->differs(notes_kind(), *before));
  CHECK_FALSE(after->differs(pages_kind(), *before));
  CHECK_FALSE(after->differs(tool_kind(), *before));
  CHECK(after->find(notes_kind(), "a__n") == before->find(notes_kind(), "a__n"));
  CHECK(after->find(notes_kind(), "a__m") != before->find(notes_kind(), "a__m"));
  CHECK(before->find(notes_kind(), "a__m")->definition.text() == note("m"));
}

TEST_CASE("what a list of any kind leaves out is told in the order of servers and kinds") {
  auto b = two_servers();
  b.set_dropped(1, tool_kind(), {"first"});
  b.set_dropped(1, notes_kind(), {"second"});
  b.set_dropped(0, pages_kind(), {"third"});
  CHECK(b.build()->dropped() == std::vector<dropped_item>{{"a", "tool server \"a\": third"},
                                                          {"b", "tool server \"b\": first"},
                                                          {"b", "tool server \"b\": second"}});
}

namespace {

/// A gate that withholds items called `bad`, of every kind.
struct strict_gate final : definition_gate {
  void judge(const std::string&, const feature_kind& kind, feature_list list,
             std::function<void(definition_decision)> decided) override {
    asked.emplace_back(kind.capability);
    auto all = std::make_shared<withheld_names>();
    for (const feature_item& item : *list)
      if (item.key == "bad") all->emplace(item.key, std::make_shared<const std::string>("it is bad"));
    decided({.withheld = std::move(all), .notice = ""});
  }
  std::vector<std::string> asked;
};

}  // namespace

TEST_CASE("lists of all kinds pass one gate, and a change is told for its kind only") {
  supervisor_rig r;
  strict_gate gate;
  auto o = supervisor_rig::options();
  o.kinds = more_kinds();
  o.gate = &gate;
  r.supervisor = std::make_unique<supervisor>(r.time, r.random, o);
  std::vector<std::string> told;
  const auto subscription =
      r.supervisor->on_catalog_change([&](const feature_kind& kind) { told.emplace_back(kind.plural()); });
  std::string notes = note("good");
  r.start("s", legacy_script({"bad", "fine"}, [&](scripted_process& p, const message& m) {
            if (m.method() == "initialize") {
              p.answer(m, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"notes":{}},"serverInfo":{}})");
              return true;
            }
            if (m.method() != "notes/list") return false;
            p.answer(m, "{\"notes\":[" + note("bad") + "," + notes + "]}");
            return true;
          }));
  CHECK(r.names() == std::vector<std::string>{"s__fine"});
  CHECK(r.supervisor->snapshot()->list(notes_kind()).text() == R"({"notes":[{"x":1,"name":"s__good"}]})");
  CHECK(std::ranges::count(gate.asked, "notes") == 1);
  CHECK(r.status().withheld == 2);
  CHECK(told == std::vector<std::string>{"tools", "notes"});
  told.clear();
  notes = note("other");
  r.advance(20'000);
  r.launcher.spawned.back()->say(R"({"jsonrpc":"2.0","method":"notifications/notes/list_changed"})");
  r.advance(1'000);
  CHECK(told == std::vector<std::string>{"notes"});
  CHECK(r.supervisor->snapshot()->find(notes_kind(), "s__other")->owner.lock());
  r.supervisor.reset();  // destroyed before its gate
}
