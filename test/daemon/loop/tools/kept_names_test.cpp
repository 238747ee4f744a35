// Tool names that keep their meaning during a conversation.
#include "daemon/loop/tools/kept_names.hpp"

#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::test;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::json;

namespace {

// A tool: its server's own name, and the name that the catalog gives it.
using named = std::pair<std::string, std::string>;

mcp::catalogs::entry_ptr entry(const named& n) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>();
  e->server = "srv";
  e->tool = n.first;
  e->name = n.second;
  e->definition = raw_json::own("{\"name\":" + json_quoted(n.first) + "}");
  return e;
}

mcp::catalogs::catalog_ptr catalog_of(const std::vector<named>& tools, std::uint64_t revision) {
  std::vector<mcp::catalogs::entry_ptr> entries;
  for (const auto& t : tools) entries.push_back(entry(t));
  return std::make_shared<mcp::catalogs::catalog>(std::move(entries), revision);
}

struct offers {
  round_tools tools{plain_adapter};
  kept_names names;
  std::uint64_t revision = 0;
  offered_ptr last;
  // Offers the listed tools and returns "own name as shown name" of each.
  lines of(const std::vector<named>& listed) {
    last = names.settle(tools.offer(catalog_of(listed, ++revision), {}, "x"));
    lines all;
    for (const auto& name : last->names) all.push_back(last->find(name)->tool + " as " + name);
    return all;
  }
};

}  // namespace

TEST_CASE("F8: a name that was offered in a run means the same tool to its end") {
  offers o;
  CHECK(o.of({{"a.b", "s__a_b"}, {"x", "s__x"}}) == lines{"a.b as s__a_b", "x as s__x"});
  // The catalog gives the name to a new tool, "a_b", whose own name fits as it is.
  const auto after = o.of({{"a_b", "s__a_b"}, {"a.b", "s__a_b_123456"}, {"x", "s__x"}});
  REQUIRE(after.size() == 3);
  CHECK(o.last->set->forms_for("y").size() == 3);
  CHECK(after[0].starts_with("a_b as s__a_b_"));
  CHECK(after[1] == "a.b as s__a_b");
  CHECK(after[2] == "x as s__x");
  REQUIRE(o.last->set->tools.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(o.last->set->tools[i].name == o.last->names[i]);
    CHECK((i == 2 || !o.last->set->tools[i].encoded));  // bytes encoded with the old name are dropped
  }
  CHECK(o.last->guidance.find(o.last->names[0]) != std::string::npos);
  // "a.b" goes and comes back, and "a_b" keeps the name that it got.
  CHECK(o.of({{"a_b", "s__a_b"}}) == lines{after[0]});
  CHECK(o.of({{"a_b", "s__a_b"}, {"a.b", "s__a_b_123456"}, {"x", "s__x"}}) == after);
}

TEST_CASE("F8: a tool that goes takes its name along for the run, and offers without a clash stay one object") {
  offers o;
  CHECK(o.of({{"a.b", "s__a_b"}}) == lines{"a.b as s__a_b"});
  const auto first = o.last;
  const auto replaced = o.of({{"a/b", "s__a_b"}});
  REQUIRE(replaced.size() == 1);
  CHECK(replaced[0] != "a/b as s__a_b");
  CHECK(first->find("s__a_b")->tool == "a.b");

  round_tools tools(plain_adapter);
  kept_names names;
  const auto some = tools.offer(catalog_of({{"x", "s__x"}}, 1), {}, "x");
  const auto more = tools.offer(catalog_of({{"x", "s__x"}, {"y", "s__y"}}, 2), {}, "x");
  CHECK(names.settle(some) == some);
  CHECK(names.settle(more) == more);
}

TEST_CASE("F8: a name that meant a tool earlier in the conversation means it from the first offer on") {
  offers o;
  const std::vector<daemon::stored::record::meant_tool> earlier = {
      {"s__a_b", "srv", "a.b"}, {"s__gone", "srv", "gone"}, {"s__a_b", "srv", "later"}};
  o.names.restore(earlier);
  const auto all = o.of({{"a_b", "s__a_b"}, {"a.b", "s__a_b_123456"}, {"go/ne", "s__gone"}, {"x", "s__x"}});
  REQUIRE(all.size() == 4);
  CHECK(all[0].starts_with("a_b as s__a_b_"));
  CHECK(all[1] == "a.b as s__a_b");
  CHECK(all[2].starts_with("go/ne as s__gone_"));
  CHECK(all[3] == "x as s__x");

  round_tools tools(plain_adapter);
  kept_names names;
  names.restore(std::vector<daemon::stored::record::meant_tool>{{"s__x", "srv", "x"}});
  const auto same = tools.offer(catalog_of({{"x", "s__x"}}, 1), {}, "x");
  CHECK(names.settle(same) == same);
}

TEST_CASE("F8: a new name keeps within 64 characters") {
  offers o;
  const std::string longest(64, 'n');
  o.of({{"a.b", longest}});
  o.of({{"a/b", longest}});
  REQUIRE(o.last->names.size() == 1);
  CHECK(o.last->names[0].size() == 64);
  CHECK(o.last->names[0] != longest);
}

TEST_CASE("F8 M4: a call by a name of an earlier round reaches the tool that had it then") {
  fixture f;
  f.list({{"lookup", "srv__lookup"}});
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("1", "srv__lookup")}), calls({call("2", "srv__lookup")}), says("done")};
  f.run();
  f.list({{"lookup", "srv__lookup_123456"}, {"other", "srv__lookup"}});
  f.server->release();
  f.settle();
  f.server->release();
  f.settle();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.called() == lines{"lookup", "lookup"});
}
