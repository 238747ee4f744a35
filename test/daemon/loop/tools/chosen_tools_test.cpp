// Choice and renaming of the catalog's tools by a profile and a request.
#include "daemon/loop/tools/chosen_tools.hpp"

#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::json;

namespace {

mcp::catalogs::entry_ptr tool(const std::string& own) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>();
  e->name = "s__" + own;
  e->server = "s";
  e->tool = own;
  e->definition =
      raw_json::own("{\"title\":\"" + own + "\", \"name\": \"" + own + "\",\"inputSchema\":{\"type\":\"object\"}}");
  e->exposed = mcp::catalogs::definition_named(e->definition, e->name, own);
  e->hash = 5;
  return e;
}

mcp::catalogs::catalog sample() {
  return mcp::catalogs::catalog({tool("a"), tool("b"), tool("c")}, 1);
}

lines names(const std::vector<mcp::catalogs::entry_ptr>& entries) {
  lines all;
  for (const auto& e : entries) all.push_back(e->name);
  return all;
}

lines renamed_to(std::map<std::string, std::string, std::less<>> rename, std::vector<std::string> deny = {}) {
  return names(chosen_tools(sample(), {{}, {}, std::move(deny), std::move(rename)}));
}

}  // namespace

TEST_CASE("M4: a profile's name for a tool stands in its definition, and the way back is kept") {
  const auto catalog = sample();
  const auto entries = chosen_tools(catalog, {{}, {}, {}, {{"s__a", "first"}}});
  REQUIRE(names(entries) == lines{"first", "s__b", "s__c"});
  const auto& e = *entries[0];
  CHECK(e.exposed.text() == R"({"title":"a", "name": "first","inputSchema":{"type":"object"}})");
  CHECK((e.listed == "s__a" && e.listed_name() == "s__a" && e.tool == "a" && e.server == "s" && e.hash == 5));
  CHECK(e.definition.text() == catalog.entries()[0]->definition.text());
  CHECK(entries[1] == catalog.entries()[1]);
  CHECK(entries[1]->listed_name() == "s__b");
}

TEST_CASE("M4: a new name that another tool has is not given, so that every tool stays reachable") {
  CHECK(renamed_to({{"s__a", "s__b"}}) == lines{"s__a", "s__b", "s__c"});
  CHECK(renamed_to({{"s__a", "s__b"}, {"s__c", "s__a"}}) == lines{"s__a", "s__b", "s__c"});
  CHECK(renamed_to({{"s__a", "s__b"}, {"s__b", "s__a"}}) == lines{"s__b", "s__a", "s__c"});
  CHECK(renamed_to({{"s__a", "s__b"}}, {"s__b"}) == lines{"s__b", "s__c"});
  CHECK(renamed_to({{"s__a", "mcpbx__a"}, {"gone", "x"}}) == lines{"s__a", "s__b", "s__c"});
}

TEST_CASE("M4: a profile offers by the catalog's names, and a request asks by those that it sees") {
  const auto catalog = sample();
  CHECK(names(chosen_tools(catalog, {{"first"}, {"s__a", "s__b"}, {}, {{"s__a", "first"}}})) == lines{"first"});
  CHECK(names(chosen_tools(catalog, {{"s__a"}, {}, {}, {{"s__a", "first"}}})).empty());
  CHECK(names(chosen_tools(catalog, {{}, {}, {"first"}, {{"s__a", "first"}}})) == lines{"first", "s__b", "s__c"});
}

TEST_CASE("M4: copies are made once, as long as what they are copies of stays") {
  const auto catalog = sample();
  const tool_choice choice{{}, {}, {}, {{"s__a", "first"}}};
  const auto before = chosen_tools(catalog, choice);
  CHECK(chosen_tools(catalog, choice, before)[0] == before[0]);
  CHECK(chosen_tools(sample(), choice, before)[0] != before[0]);
}

TEST_CASE("M4 L16: a run under a profile calls by the new name, and events and its result have that name") {
  fixture f;
  auto lookup = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("lookup"));
  f.tools.catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{lookup, f.entry("other")}, 7);
  f.model->script = {calls({call("a", "file_lookup"), call("b", "srv__lookup"), call("c", "srv__other")}),
                     says("done")};
  auto r = fixture::ask();
  r.tools.rename = {{"srv__lookup", "file_lookup"}};
  r.approve = {"srv__lookup"};
  r.limits.approve = approval_mode::all;
  f.run(std::move(r));
  REQUIRE(f.server->params.size() == 2);
  CHECK(contains(f.server->params[0], "\"name\":\"lookup\""));
  CHECK(contains(f.caller_.of("tool_call").at(0), R"("name":"file_lookup","server":"srv")"));
  CHECK(contains(f.caller_.member("toolCalls"), R"({"id":"a","name":"file_lookup","server":"srv")"));
  CHECK(contains(f.caller_.member("messages"), "there is no tool named"));
  const auto& started = std::get<record::run_started>(f.written().front());
  CHECK(started.tools.rename.at("srv__lookup") == "file_lookup");
}

TEST_CASE("M4 L19: a profile's approvals name tools as the catalog does, and the question shows the new name") {
  fixture f;
  f.model->script = {calls({call("a", "file_lookup")})};
  auto r = fixture::ask();
  r.tools.rename = {{"srv__lookup", "file_lookup"}};
  r.approve = {"srv__lookup"};
  f.run(std::move(r));
  REQUIRE(f.caller_.of("question").size() == 1);
  CHECK(contains(f.caller_.of("question")[0], R"("tool":"file_lookup")"));
  CHECK(f.server->params.empty());
}

TEST_CASE("G24: what holds beside a choice withholds what any level of it withholds") {
  const auto under = [](kept_terms kept) {
    return names(chosen_tools(sample(), {{}, {}, {}, {}, std::make_shared<const kept_terms>(std::move(kept))}));
  };
  const auto servers = [](std::vector<server_terms> all) {
    return std::make_shared<const std::vector<server_terms>>(std::move(all));
  };
  const auto known = servers({{"other", {}, {}, {}}, {"s", {}, {}, {}}});
  CHECK(under({}) == lines{"s__a", "s__b", "s__c"});
  CHECK(under({{}, {}, known}) == lines{"s__a", "s__b", "s__c"});
  CHECK(under({{"s__a", "s__b"}, {"*b"}, known}) == lines{"s__a"});
  CHECK(under({{}, {}, servers({{"s", {}, {"a"}, {}}})}) == lines{"s__b", "s__c"});
  CHECK(under({{}, {}, servers({{"s", {"[ab]"}, {}, {}}})}).empty());  // globs have no character classes
  CHECK(under({{}, {}, servers({{"s", {"a", "b"}, {"b"}, {}}})}) == lines{"s__a"});
  CHECK(under({{}, {"s__a"}, servers({{"s", {"a", "b"}, {}, {}}})}) == lines{"s__b"});
  CHECK(under({{}, {}, servers({{"other", {}, {}, {}}})}).empty());  // "s" was not configured then
  CHECK(under({{}, {}, servers({})}).empty());
}

TEST_CASE("a choice of tools may include those of a server that has listed none yet") {
  CHECK(may_choose({}, "saas"));
  CHECK(may_choose({.only = {"saas__greet"}, .allow = {}, .deny = {}}, "saas"));
  CHECK(may_choose({.only = {"*greet"}, .allow = {"sa*"}, .deny = {"saas__drop"}}, "saas"));
  CHECK(may_choose({.only = {"greet"}, .allow = {}, .deny = {}}, "saas"));
  CHECK_FALSE(may_choose({.only = {"calc__*"}, .allow = {}, .deny = {}}, "saas"));
  CHECK_FALSE(may_choose({.only = {}, .allow = {"calc__add", "other__*"}, .deny = {}}, "saas"));
  CHECK_FALSE(may_choose({.only = {}, .allow = {}, .deny = {"saas__*"}}, "saas"));
  CHECK_FALSE(may_choose({.only = {}, .allow = {}, .deny = {"*"}}, "saas"));
}
