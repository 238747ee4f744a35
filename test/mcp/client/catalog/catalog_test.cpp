// The catalog: names, filters, snapshots.
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/protocol/tools.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

namespace {

feature_list tools(const std::vector<std::string>& names, std::string_view more = "") {
  auto list = std::make_shared<std::vector<feature_item>>();
  for (const auto& n : names) list->push_back(*read_tool(raw_json::own(tool_definition(n, more))));
  return list;
}

std::vector<std::string> names_of(const catalog_ptr& c) {
  std::vector<std::string> out;
  for (const auto& e : c->entries()) out.push_back(e->name);
  return out;
}

catalog_builder::server server(std::string name, item_filter filter = {}, bool plain = false) {
  return {std::move(name), std::move(filter), plain, {}};
}

}  // namespace

TEST_CASE("the exposed definition is the server's with its name replaced and nothing else") {
  catalog_builder b({server("git")});
  const auto definition = raw_json::literal(
      R"({ "description":"d\u00e9", "name" : "log", "inputSchema":{"type":"object","$defs":{"a":1.0}}, "x":[1e400] })");
  b.set_list(0, tool_kind(), std::make_shared<std::vector<feature_item>>(1, *read_tool(definition)));
  const auto c = b.build();
  REQUIRE(c->entries().size() == 1);
  const auto& e = *c->entries()[0];
  CHECK(e.name == "git__log");
  CHECK(e.server == "git");
  CHECK(e.tool == "log");
  CHECK(e.definition.text().data() == definition.text().data());
  CHECK(
      e.exposed.text() ==
      R"({ "description":"d\u00e9", "name" : "git__log", "inputSchema":{"type":"object","$defs":{"a":1.0}}, "x":[1e400] })");
  CHECK(e.legacy.text().data() == e.exposed.text().data());
  CHECK(e.description == "d\xC3\xA9");
  CHECK(c->find("git__log") == c->entries()[0]);
  CHECK_FALSE(c->find("log"));
  CHECK(c->tools_list().text() == "{\"tools\":[" + std::string(e.exposed.text()) + "]}");
  CHECK(c->tools_list().text().data() == c->tools_list().text().data());
  CHECK(c->legacy_tools_list().text().data() == c->tools_list().text().data());
}

TEST_CASE("a legacy caller sees no outputSchema that is not for objects") {
  catalog_builder b({server("s")});
  b.set_list(0, tool_kind(), tools({"a"}, R"(,"outputSchema":{"type":"array"})"));
  const auto c = b.build();
  CHECK(c->tools_list().text().find("outputSchema") != std::string_view::npos);
  CHECK(c->legacy_tools_list().text().find("outputSchema") == std::string_view::npos);
}

TEST_CASE("filters choose by the server's own names and renames replace them") {
  catalog_builder b({server("git", {{"git_*"}, {"git_push"}, {{"git_log", "history"}}})});
  b.set_list(0, tool_kind(), tools({"git_log", "git_push", "git_status", "other"}));
  const auto c = b.build();
  CHECK(names_of(c) == std::vector<std::string>{"git__history", "git__git_status"});
  CHECK(c->find("git__history")->tool == "git_log");
}

TEST_CASE("a snapshot shares what did not change and is the same one when nothing did") {
  catalog_builder b({server("a"), server("b")});
  b.set_list(0, tool_kind(), tools({"x", "y"}));
  b.set_list(1, tool_kind(), tools({"x"}));
  const auto first = b.build();
  CHECK(b.build() == first);
  b.set_list(0, tool_kind(), tools({"x", "y"}));  // the same bytes from a restarted server
  CHECK(b.build() == first);
  b.set_list(0, tool_kind(), tools({"y", "z"}));
  const auto second = b.build();
  CHECK(second != first);
  CHECK(second->revision() == first->revision() + 1);
  CHECK(names_of(second) == std::vector<std::string>{"a__y", "a__z", "b__x"});
  CHECK(second->entries()[0] == first->entries()[1]);
  CHECK(second->entries()[2] == first->entries()[2]);
  CHECK(names_of(first).size() == 3);
  SUBCASE("a changed definition is a new entry with another hash") {
    b.set_list(1, tool_kind(), tools({"x"}, R"(,"title":"new")"));
    const auto third = b.build();
    CHECK(third->entries()[2] != second->entries()[2]);
    CHECK(third->entries()[2]->hash != second->entries()[2]->hash);
    CHECK(third->find("a__y") == second->find("a__y"));
  }
}

TEST_CASE("G38: the names of prefixed servers are the same whatever order the servers come up in") {
  const std::vector<catalog_builder::server> configured = {server("git"), server("my__git"), server("my_git"),
                                                           server("plain", {}, true), server("mcpbx")};
  const std::vector<feature_list> lists = {tools({"echo", "a.b", "a_b", "a/b"}), tools({"echo", "log"}),
                                           tools({"echo", "log"}), tools({"echo", "git__echo"}), tools({"x"})};
  std::map<std::string, std::string> expected;
  std::vector<std::size_t> order(configured.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    catalog_builder b(configured);
    for (const auto i : order) {
      b.set_list(i, tool_kind(), lists[i]);
      for (const auto& e : b.build()->entries()) {
        const auto [known, fresh] = expected.emplace(e->server + "/" + e->tool, e->name);
        REQUIRE(known->second == e->name);
      }
    }
    const auto c = b.build();
    REQUIRE(c->entries().size() == 11);
    std::set<std::string> distinct;
    for (const auto& e : c->entries()) {
      distinct.insert(e->name);
      REQUIRE(c->find(e->name) == e);
    }
    REQUIRE(distinct.size() == 11);
  } while (std::ranges::next_permutation(order).found);
  CHECK(expected.at("git/echo") == "git__echo");
  CHECK(expected.at("my_git/echo") == "my_git__echo");
  CHECK(expected.at("my__git/echo").starts_with("my_git_"));
  CHECK(expected.at("plain/echo") == "echo");
  CHECK_FALSE(expected.at("mcpbx/x").starts_with("mcpbx__"));
}

TEST_CASE("G38: with plain names the first server in file order keeps a name") {
  catalog_builder b({server("one", {}, true), server("two", {}, true), server("three")});
  b.set_list(1, tool_kind(), tools({"echo", "list"}));
  b.set_list(2, tool_kind(), tools({"echo"}));
  CHECK(names_of(b.build()) == std::vector<std::string>{"echo", "list", "three__echo"});
  b.set_list(0, tool_kind(), tools({"echo"}));
  CHECK(names_of(b.build()) == std::vector<std::string>{"echo", "two__echo", "list", "three__echo"});
  const auto notices = b.take_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0] == "tool server \"two\": tool \"echo\" cannot be called \"echo\"; its name is \"two__echo\"");
  b.set_list(0, tool_kind(), tools({"echo"}));
  b.build();
  CHECK(b.take_notices().empty());
}

TEST_CASE("G38: a tool whose plain name is another one's is prefixed, and rules know it by all its names") {
  catalog_builder b({server("one", {}, true), server("two", {{}, {}, {{"log", "history"}}}, true), server("three")});
  b.set_list(0, tool_kind(), tools({"echo"}), {}, std::make_shared<const tool_names>(tool_names{"echo"}));
  b.set_list(1, tool_kind(), tools({"echo", "log"}));
  b.set_list(2, tool_kind(), tools({"echo"}));
  const auto c = b.build();
  CHECK(names_of(c) == std::vector<std::string>{"one__echo", "echo", "history", "three__echo"});
  CHECK(c->find("one__echo")->rules == rule_names{"one__echo", "echo"});
  CHECK(c->find("echo")->rules == rule_names{"two__echo", "echo"});
  CHECK(c->find("history")->rules == rule_names{"two__history", "history"});
  CHECK(c->find("three__echo")->rules == rule_names{});
  // The name stays taken even if its tool is withheld.
  auto withheld = std::make_shared<withheld_names>();
  withheld->emplace("echo", std::make_shared<const std::string>("it changed"));
  b.set_list(1, tool_kind(), tools({"echo"}), withheld);
  CHECK(names_of(b.build()) == std::vector<std::string>{"one__echo", "three__echo"});
  CHECK(b.build()->find_withheld("echo")->rules == rule_names{"two__echo", "echo"});
}

TEST_CASE("G38: rules know a tool by the name that it has when tools that clash with it come and go") {
  catalog_builder b({server("one", {{}, {}, {{"safe", "read"}}}), server("two", {}, true)});
  b.set_list(0, tool_kind(), tools({"a.b", "a_b", "read", "safe", "other"}));
  const auto c = b.build();
  const auto find = [](const catalog_ptr& all, std::string_view own) {
    return *std::ranges::find(all->entries(), own, [](const auto& e) -> std::string_view { return e->tool; });
  };
  const auto dotted = find(c, "a.b")->name, read = find(c, "read")->name;
  CHECK(dotted.starts_with("one__a_b_"));
  CHECK(find(c, "a.b")->rules == rule_names{"", "", "one__a_b"});
  CHECK(read.starts_with("one__read_"));
  CHECK(find(c, "read")->rules == rule_names{"", "", "one__read"});
  CHECK(find(c, "other")->rules == rule_names{});
  b.set_list(0, tool_kind(), tools({"a.b", "read"}));
  b.set_list(1, tool_kind(), tools({"c.d"}));
  const auto fewer = b.build();
  CHECK(find(fewer, "a.b")->name == "one__a_b");
  CHECK(find(fewer, "a.b")->rules == rule_names{"", "", dotted});
  CHECK(find(fewer, "read")->rules == rule_names{"", "", read});
  CHECK(find(fewer, "c.d")->name == "c.d");
  CHECK(find(fewer, "c.d")->rules.prefixed == "two__c_d");
  CHECK(find(fewer, "c.d")->rules.other.starts_with("two__c_d_"));
}

TEST_CASE("names that resemble a wrong one are found") {
  catalog_builder b({server("git"), server("files")});
  b.set_list(0, tool_kind(), tools({"log", "status"}));
  b.set_list(1, tool_kind(), tools({"read", "log"}));
  const auto c = b.build();
  CHECK(c->similar("log") == std::vector<std::string>{"git__log", "files__log"});
  CHECK(c->similar("git__lgo").at(0) == "git__log");
  CHECK(c->similar("zzzzzzzzzzzzzzz").empty());
}

TEST_CASE("G18: names that resemble an unknown one are looked for once while it is remembered") {
  catalog_builder b({server("git")});
  b.set_list(0, tool_kind(), tools({"log", "status"}));
  const auto c = b.build();
  for (int i = 0; i < 1000; ++i) CHECK(c->similar("git__lgo").at(0) == "git__log");
  CHECK(c->searches() == 1);
  for (int i = 0; i < 1000; ++i) c->similar("git__lgo" + std::to_string(i));
  CHECK(c->similar("git__lgo").at(0) == "git__log");
  CHECK(c->searches() <= 1002);
  CHECK(c->similar(std::string(1'000'000, 'g')).empty());
}

TEST_CASE("ten thousand tools make one list, once") {
  std::vector<std::string> many;
  for (int i = 0; i < 10'000; ++i) many.push_back("tool_" + std::to_string(i));
  catalog_builder b({server("s")});
  b.set_list(0, tool_kind(), tools(many));
  const auto c = b.build();
  CHECK(c->entries().size() == 10'000);
  const auto list = c->tools_list();
  CHECK(list.text().data() == c->tools_list().text().data());
  std::size_t n = 0;
  for_each_element(find_member(list, "tools"), [&](const raw_json&) { return ++n != 0; });
  CHECK(n == 10'000);
}

TEST_CASE("L8 L12 L13: how a tool is called comes from its server's entry and, where they are trusted, its own hints") {
  auto configured = server("s");
  configured.calls.limits = {milliseconds(1000), milliseconds(5000)};
  configured.calls.serial_tools = {"write_*"};
  configured.calls.retry = {"write_again"};
  configured.calls.idle = {{"slow_*", milliseconds(9000)}, {"*_much", milliseconds(2000)}};
  configured.calls.hard = {{"*_much", milliseconds(3000)}, {"short", milliseconds(500)}};
  configured.calls.max_retries = 4;
  const auto manner = [&](std::string_view name, std::string_view hints = "{}") {
    catalog_builder b({configured});
    const auto definition =
        raw_json::own("{\"name\":" + json_quoted(name) + R"(,"inputSchema":{"type":"object"},"annotations":)" +
                      std::string(hints) + "}");
    b.set_list(0, tool_kind(), std::make_shared<std::vector<feature_item>>(1, *read_tool(definition)));
    return b.build()->entries()[0]->manner;
  };
  CHECK(manner("write_a").serial);
  CHECK_FALSE(manner("read_a").serial);
  CHECK(manner("write_again").max_retries == 4);
  CHECK(manner("write_a", R"({"idempotentHint":true})").max_retries == 0);
  CHECK_FALSE(manner("plain").limits.has_value());
  const auto slow = manner("slow_much").limits;  // the first glob counts, and the hard limit is never the shorter one
  REQUIRE(slow);
  CHECK(slow->idle.count() == 9000);
  CHECK(slow->hard.count() == 9000);
  const auto brief = manner("short").limits;
  REQUIRE(brief);
  CHECK(brief->idle.count() == 1000);
  CHECK(brief->hard.count() == 1000);

  configured.calls.trust_annotations = true;
  CHECK(manner("write_a", R"({"idempotentHint":true})").max_retries == 4);
  CHECK(manner("read_a", R"({"readOnlyHint":true})").max_retries == 4);
  CHECK(manner("other", R"({"destructiveHint":false})").max_retries == 0);
  configured.calls.serial = true;
  CHECK(manner("read_a").serial);
}

TEST_CASE("G37: a withheld tool is in no list, keeps its name, and says why it is withheld") {
  catalog_builder b({server("s", {{}, {"denied"}, {{"log", "history"}}}), server("p", {}, true)});
  const auto why = std::make_shared<const std::string>("its definition changed");
  const auto withhold = [&](const std::vector<std::string>& names) {
    auto all = std::make_shared<withheld_names>();
    for (const auto& n : names) all->emplace(n, why);
    return all;
  };
  b.set_list(0, tool_kind(), tools({"a.b", "a_b", "log", "denied"}), withhold({"a.b", "log", "denied"}));
  b.set_list(1, tool_kind(), tools({"x", "y"}), withhold({"y"}));
  const auto c = b.build();
  // Names are the same as without withheld tools.
  catalog_builder plain({server("s", {{}, {"denied"}, {{"log", "history"}}}), server("p", {}, true)});
  plain.set_list(0, tool_kind(), tools({"a.b", "a_b", "log", "denied"}));
  plain.set_list(1, tool_kind(), tools({"x", "y"}));
  const auto all = names_of(plain.build());
  REQUIRE(all.size() == 5);
  CHECK(names_of(c) == std::vector<std::string>{all[1], all[3]});
  CHECK(c->withheld().size() == 3);
  REQUIRE(c->find_withheld(all[0]));
  CHECK(c->find_withheld(all[0])->tool == "a.b");
  CHECK(c->find_withheld("s__history")->server == "s");
  CHECK_FALSE(c->find("s__history"));
  CHECK_FALSE(c->find_withheld(all[1]));
  CHECK(c->tools_list().text().find("history") == std::string_view::npos);
  CHECK(withheld_text("s__history", *c->find_withheld("s__history")) ==
        "the tool \"s__history\" of tool server \"s\" is not offered: its definition changed");
  // Once approved, a tool is an entry like any other; unchanged entries are shared.
  b.set_list(0, tool_kind(), tools({"a.b", "a_b", "log", "denied"}), withhold({"a.b"}));
  const auto later = b.build();
  CHECK(later->revision() == c->revision() + 1);
  CHECK(later->find("s__history"));
  CHECK(later->find(all[1]) == c->find(all[1]));
  b.set_list(0, tool_kind(), tools({"a.b", "a_b", "log", "denied"}), withhold({"a.b", "a_b"}));
  CHECK(b.build()->revision() == later->revision() + 1);
  b.set_list(0, tool_kind(), tools({"a.b", "a_b", "log", "denied"}), withhold({"a.b", "a_b"}));
  CHECK(b.build()->revision() == later->revision() + 1);
}

TEST_CASE("G15: a snapshot says what of the servers' lists is no tool of it, in the order of the servers") {
  catalog_builder b({server("a"), server("b")});
  b.set_dropped(1, tool_kind(), {"a tool definition is left out: name must be a string", "tool \"x\" is listed twice"});
  b.set_list(1, tool_kind(), tools({"x"}));
  const auto first = b.build();
  REQUIRE(first->dropped().size() == 2);
  CHECK(first->dropped()[0].server == "b");
  CHECK(first->dropped()[0].reason == "tool server \"b\": a tool definition is left out: name must be a string");
  CHECK(b.build() == first);
  b.set_dropped(0, tool_kind(), {"one"});
  const auto second = b.build();
  CHECK(second->revision() == first->revision() + 1);
  REQUIRE(second->dropped().size() == 3);
  CHECK(second->dropped()[0].reason == "tool server \"a\": one");
  CHECK(second->entries()[0] == first->entries()[0]);
  b.set_dropped(0, tool_kind(), {});
  b.set_dropped(1, tool_kind(), {});
  CHECK(b.build()->dropped().empty());
}

TEST_CASE("G15: callers are not told of a change when only what is left out has changed") {
  supervisor_rig r;
  auto bad = std::make_shared<bool>(true);
  r.start("s", legacy_script({"a"}, [bad](scripted_process& p, const message& m) {
            if (m.method() != "tools/list") return false;
            std::vector<std::string> definitions{tool_definition("a")};
            if (*bad) definitions.emplace_back("null");
            p.answer(m, tools_page(definitions));
            return true;
          }));
  CHECK(r.supervisor->snapshot()->dropped().size() == 1);
  int changes = 0;
  const auto subscription = r.supervisor->on_catalog_change([&](const feature_kind&) { ++changes; });
  *bad = false;
  REQUIRE(r.supervisor->restart("s").has_value());
  r.advance(20'000);
  CHECK(r.supervisor->snapshot()->dropped().empty());
  CHECK(changes == 0);
}

TEST_CASE(
    "catalog: servers that are set anew keep their tools and entries, in the new order, if their owner is the same") {
  const auto client_of = [&](const std::string& name) {
    supervisor_rig r;
    r.start(name, legacy_script());
    return r.owner(name + "__echo");
  };
  const auto owner = client_of("git"), other = client_of("git");
  const auto with = [](catalog_builder::server s, const std::shared_ptr<client>& c) {
    s.owner = c;
    return s;
  };
  catalog_builder b({with(server("git"), owner), server("web")});
  b.set_list(0, tool_kind(), tools({"log", "push"}));
  b.set_list(1, tool_kind(), tools({"get"}));
  const auto before = b.build();
  SUBCASE("nothing differs") {
    b.set_servers({with(server("git"), owner), server("web")});
    CHECK(b.build() == before);
  }
  SUBCASE("the order") {
    b.set_servers({server("web"), with(server("git"), owner)});
    CHECK(names_of(b.build()) == std::vector<std::string>{"web__get", "git__log", "git__push"});
    CHECK(b.build()->entries().back() == before->find("git__push"));
    b.set_list(0, tool_kind(), tools({"put"}));
    CHECK(names_of(b.build()) == std::vector<std::string>{"web__put", "git__log", "git__push"});
  }
  SUBCASE("the filter") {
    b.set_servers({with(server("git", {{}, {"push"}, {}}), owner), server("web")});
    CHECK(names_of(b.build()) == std::vector<std::string>{"git__log", "web__get"});
    CHECK(b.build()->find("git__log") == before->find("git__log"));
  }
  SUBCASE("rules of calls and the origin, which entries tell") {
    auto s = with(server("git"), owner);
    s.calls.serial = true;
    s.origin = std::make_shared<const std::string>("elsewhere");
    b.set_servers({s, server("web")});
    const auto entry = b.build()->find("git__log");
    CHECK(entry->manner.serial);
    CHECK(*entry->origin == "elsewhere");
  }
  SUBCASE("the owner: nothing is known of another client's tools") {
    b.set_servers({with(server("git"), other), server("web")});
    CHECK(names_of(b.build()) == std::vector<std::string>{"web__get"});
  }
  SUBCASE("a server that is gone") {
    b.set_servers({server("web")});
    CHECK(names_of(b.build()) == std::vector<std::string>{"web__get"});
  }
}
