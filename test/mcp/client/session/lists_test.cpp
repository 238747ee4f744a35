// The list of tools of one server: pages, changes, subscriptions.
#include "mcp/client/session/feature_lister.hpp"
#include "test/mcp/client/session_rig.hpp"
#include "test/mcp/client/supervisor_rig.hpp"
#include "test/mcp/rpc/recorded_lines.hpp"

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::session;
using mcpbx::test::session_rig;

namespace {

std::string page(std::string_view names, std::string_view more = "") {
  std::string out = "{\"tools\":[";
  bool first = true;
  for (const char c : names) {
    out += std::string(first ? "" : ",") + "{\"name\":\"" + c + "\",\"inputSchema\":{}}";
    first = false;
  }
  return out + "]" + std::string(more) + "}";
}

std::string names_of(const std::vector<feature_item>& tools) {
  std::string out;
  for (const auto& t : tools) out += t.key;
  return out;
}

constexpr std::string_view list_changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

}  // namespace

TEST_CASE("G15: all pages are taken, in order") {
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32601);
  s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
  s.answer("tools/list", page("ab", R"(,"nextCursor":"p\"2")"));
  CHECK(find_member(raw_json::own(s.sent.back()), "params").text() == R"({"cursor":"p\"2"})");
  s.answer("tools/list", page("c", R"(,"nextCursor":null)"));
  CHECK(s.ready == 1);
  CHECK(names_of(*s.lists.at(0)) == "abc");
}

TEST_CASE("G15: an endless list ends at a repeated cursor") {
  feature_lister l(tool_kind());
  CHECK(*l.take_page(raw_json::own(page("a", R"(,"nextCursor":"1")"))));
  CHECK_FALSE(*l.take_page(raw_json::own(page("b", R"(,"nextCursor":"1")"))));
  CHECK(names_of(l.items()) == "ab");
  CHECK(l.notices().at(0).find("same cursor twice") != std::string::npos);
}

TEST_CASE("G15: an endless list ends after 1000 pages") {
  feature_lister l(tool_kind());
  int pages = 1;
  while (*l.take_page(raw_json::own("{\"tools\":[{\"name\":\"t" + std::to_string(pages) +
                                    "\",\"inputSchema\":{}}],\"nextCursor\":\"" + std::to_string(pages) + "\"}")))
    ++pages;
  CHECK(pages == 1000);
  CHECK(l.items().size() == 1000);
}

TEST_CASE("G15: a list is bounded in bytes and tools") {
  feature_lister bytes(tool_kind(), {.max_bytes = 100});
  CHECK(*bytes.take_page(raw_json::own(page("a", R"(,"nextCursor":"1")"))));
  CHECK_FALSE(*bytes.take_page(raw_json::own(page("b", R"(,"nextCursor":"2")"))));
  feature_lister many(tool_kind(), {.max_items = 2});
  CHECK_FALSE(*many.take_page(raw_json::own(page("abc"))));
  CHECK(names_of(many.items()) == "ab");
  CHECK(many.notices().size() == 1);
}

TEST_CASE("G15: bad definitions and second ones of a name are left out one by one with a notice each") {
  feature_lister l(tool_kind());
  CHECK_FALSE(*l.take_page(raw_json::own(
      R"({"tools":[{"name":"a","inputSchema":{}},null,{"name":"x","inputSchema":[]},{"name":"a","inputSchema":{},"description":"2"},{"name":"b","inputSchema":{}}]})")));
  CHECK(names_of(l.items()) == "ab");
  CHECK(l.items()[0].description.empty());
  CHECK(l.notices().size() == 3);
  feature_lister flood(tool_kind());
  std::string all = "{\"tools\":[null";
  for (int i = 0; i < 99; ++i) all += ",null";
  CHECK_FALSE(*flood.take_page(raw_json::own(all + "]}")));
  CHECK(flood.notices().size() == 21);
  CHECK(flood.notices().back() == "and 80 more of this kind");
}

TEST_CASE("G15: a tool whose schema is nested too deeply costs itself and no other") {
  const auto say_deep = [](session_rig& s, const std::string& line) {
    auto read = test::read_lines(
        line + "\n", {.repair_utf8 = true, .keep_deep_answers = true, .max_depth_key = "limits.maxJsonDepth"});
    REQUIRE(read.faults.size() == 1);
    s.core.on_fault(read.faults[0], s.now);
  };
  const auto tool = [](std::string_view name, std::size_t levels) {
    return "{\"name\":\"" + std::string(name) + "\",\"inputSchema\":{\"x\":" + std::string(levels, '[') +
           std::string(levels, ']') + "}}";
  };
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32601);
  s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
  // Three levels around the definition and two in it leave 251 of 256.
  const auto answer = [&s](const std::string& result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + s.id_of("tools/list") + ",\"result\":" + result + "}";
  };
  say_deep(s, answer("{\"tools\":[" + tool("a", 1) + "," + tool("deep", 252) + "," + tool("b", 251) +
                     "],\"nextCursor\":\"2\"}"));
  s.answer("tools/list", page("c"));
  CHECK(s.ready == 1);
  CHECK(names_of(*s.lists.at(0)) == "abc");
  CHECK(s.dropped.at(0) ==
        std::vector<std::string>{
            "a tool definition is left out: tool \"deep\": nested deeper than 256 levels in its list "
            "(limits.maxJsonDepth)"});
  SUBCASE("an answer to a call that is nested too deeply fails the call as before") {
    session_rig::outcome_box box;
    const auto number = s.call(box);
    say_deep(s, "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(number) + ",\"result\":" + tool("x", 300) + "}");
    CHECK(box.times == 1);
    CHECK(box.last.failure.code == errc::protocol);
  }
  SUBCASE("a page answered for the second time is no page any more") {
    say_deep(s, answer("{\"tools\":[" + tool("z", 300) + "]}"));
    CHECK(s.lists.size() == 1);
  }
}

TEST_CASE("G15: what a list leaves out is told with the first list, and again when that changes") {
  using words = std::vector<std::string>;
  session_rig s;
  s.open_legacy(R"({"tools":[{"name":"a","inputSchema":{}},{"name":"x","inputSchema":[]}]})");
  REQUIRE(s.dropped.size() == 1);
  CHECK(s.dropped[0] == words{"a tool definition is left out: tool \"x\": inputSchema must be an object"});
  const auto list_again = [&](std::string_view list) {
    s.advance(milliseconds(20'000));
    s.say(list_changed);
    s.answer("tools/list", list);
  };
  list_again(R"({"tools":[{"name":"b","inputSchema":{}},{"name":"x","inputSchema":[]}]})");
  CHECK(s.dropped.size() == 1);
  list_again(page("b"));
  REQUIRE(s.dropped.size() == 2);
  CHECK(s.dropped[1].empty());
  CHECK(s.lists.size() == 2);
  session_rig good;
  good.open_legacy(page("a"));
  CHECK(good.dropped == std::vector<words>{{}});  // an earlier session of the server may have reported some
}

TEST_CASE("G14: a list of the wrong shape leaves the server up and is asked for again") {
  session_rig s;
  s.begin();
  s.refuse("server/discover", -32601);
  s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
  s.answer("tools/list", R"({"tools":"none"})");
  CHECK(s.ready == 1);
  CHECK(s.problem.find("tool server \"srv\" answered tools/list with a result of the wrong shape") == 0);
  s.advance(milliseconds(5000));
  CHECK(s.count("tools/list") == 2);
  s.answer("tools/list", page("a"));
  CHECK(names_of(*s.lists.back()) == "a");
}

TEST_CASE("G10: a storm of list_changed makes at most 3 refreshes") {
  session_rig s;
  s.open_legacy(page("a"));
  int refreshes = 0;
  for (int i = 0; i < 10'000; ++i) {
    s.say(list_changed);
    s.advance(milliseconds(1));
    const int asked = s.count("tools/list") - 1;
    if (asked > refreshes) {
      // This server also reports a change after each answer.
      refreshes = asked;
      s.answer("tools/list", page("a"));
      s.say(list_changed);
    }
  }
  CHECK(refreshes <= 3);
  CHECK(s.lists.size() == 1);
  SUBCASE("and the last word of the storm is heard") {
    s.advance(milliseconds(20'000));
    s.answer("tools/list", page("ab"));
    CHECK(names_of(*s.lists.back()) == "ab");
  }
}

TEST_CASE("G10: one change after a quiet while is fetched at once") {
  session_rig s;
  s.open_legacy(page("a"));
  for (int i = 0; i < 3; ++i) {
    s.advance(milliseconds(15'000));
    s.say(list_changed);
    CHECK(s.count("tools/list") == i + 2);
    s.answer("tools/list", page(i % 2 == 0 ? "ab" : "a"));
  }
  CHECK(s.lists.size() == 4);
}

TEST_CASE("G10: changes that are reported a second apart are each fetched within a second") {
  session_rig s;
  s.open_legacy(page("a"));
  s.advance(milliseconds(15'000));
  for (int i = 0; i < 20; ++i) {
    s.say(list_changed);
    s.advance(milliseconds(1'000));
    CHECK(s.count("tools/list") == i + 2);
    s.answer("tools/list", page("a"));
    s.advance(milliseconds(500));
  }
}

TEST_CASE("changes during a fetch lead to exactly one more") {
  session_rig s;
  s.open_legacy(page("a"));
  s.advance(milliseconds(15'000));
  s.say(list_changed);
  s.say(list_changed);
  s.say(list_changed);
  CHECK(s.count("tools/list") == 2);
  s.answer("tools/list", page("ab"));
  s.advance(milliseconds(20'000));
  CHECK(s.count("tools/list") == 3);
  s.answer("tools/list", page("ab"));
  s.advance(milliseconds(60'000));
  CHECK(s.count("tools/list") == 3);
  CHECK(s.lists.size() == 2);
}

TEST_CASE("a modern server has one subscription, which is opened before the list and again when it ends") {
  session_rig s;
  s.open_modern(page("a"));
  CHECK(s.count("subscriptions/listen") == 1);
  CHECK(find_member(find_member(raw_json::own(s.sent.at(1)), "params"), "notifications").text() ==
        R"({"toolsListChanged":true})");
  const auto id = s.id_of("subscriptions/listen");
  s.advance(milliseconds(15'000));
  s.say(
      R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":99}}})");
  CHECK(s.count("tools/list") == 1);
  s.say(
      R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
      id + "}}}");
  CHECK(s.count("tools/list") == 2);
  s.answer("tools/list", page("ab"));

  SUBCASE("ended by its result") {
    s.answer("subscriptions/listen", "{}");
  }
  SUBCASE("ended by a cancellation") {
    s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}");
  }
  CHECK(s.count("subscriptions/listen") == 1);
  s.advance(milliseconds(1000));
  CHECK(s.count("subscriptions/listen") == 2);
  // Changes in between may have been missed.
  s.advance(milliseconds(5000));
  CHECK(s.count("tools/list") == 3);
}

TEST_CASE("a subscription that keeps ending is opened ever more rarely, one that is refused no more") {
  session_rig s;
  s.open_modern(page("a"));
  for (int i = 0; i < 600; ++i) {
    if (s.count("subscriptions/listen") < 50) s.answer("subscriptions/listen", "{}");
    s.advance(milliseconds(1000));
    if (s.count("tools/list") > 1) s.answer("tools/list", page("a"));
  }
  CHECK(s.count("subscriptions/listen") <= 16);
  session_rig never_again;
  never_again.open_modern(page("a"));
  never_again.refuse("subscriptions/listen", -32601);
  never_again.advance(milliseconds(600'000));
  CHECK(never_again.count("subscriptions/listen") == 1);
}

TEST_CASE("M2: the list of a modern server without listChanged is asked for again when it is wanted and stale") {
  session_rig s;
  s.begin();
  s.answer("server/discover",
           R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"})");
  // The least `ttlMs` of the pages counts.
  s.answer("tools/list", page("a", R"(,"nextCursor":"2","ttlMs":60000)"));
  s.answer("tools/list", page("b", R"(,"ttlMs":500)"));
  REQUIRE(s.core.ready());
  const auto asked = [&] { return s.count("tools/list"); };
  s.advance(milliseconds(499));
  s.core.lists_wanted(s.now);
  CHECK(asked() == 2);
  s.advance(milliseconds(1));
  CHECK(asked() == 2);  // stale, and nobody wants it
  s.core.lists_wanted(s.now);
  s.core.lists_wanted(s.now);
  CHECK(asked() == 3);
  s.answer("tools/list", page("c", R"(,"ttlMs":-1)"));
  CHECK(names_of(*s.lists.back()) == "c");
  SUBCASE("one that is stale at once is asked at growing intervals") {
    int answered = 3;
    for (int i = 0; i < 10'000; ++i) {
      s.core.lists_wanted(s.now);
      s.advance(milliseconds(1));
      for (; answered < asked(); ++answered) s.answer("tools/list", page("c", R"(,"ttlMs":0)"));
    }
    CHECK(asked() >= 4);
    CHECK(asked() <= 7);
  }
}

TEST_CASE("M2: a modern server that tells of changes, and a legacy one, are not asked again for a ttlMs") {
  session_rig modern, legacy;
  modern.open_modern(page("a", R"(,"ttlMs":0)"));
  legacy.open_legacy(page("a", R"(,"ttlMs":0)"));
  for (auto* s : {&modern, &legacy}) {
    s->advance(milliseconds(60'000));
    s->core.lists_wanted(s->now);
    s->advance(milliseconds(60'000));
    CHECK(s->count("tools/list") == 1);
  }
}

TEST_CASE("M2: who wants the tools makes a stale list be asked for again, and what is new in it is told") {
  test::supervisor_rig r;
  auto tools = std::make_shared<std::vector<std::string>>(1, "a");
  r.start(
      "s", test::modern_script({}, [tools](test::scripted_process& p, const message& m) {
        if (m.method() == "server/discover") {
          p.answer(m, R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
          return true;
        }
        if (m.method() != "tools/list") return false;
        std::vector<std::string> definitions;
        for (const auto& t : *tools) definitions.push_back(test::tool_definition(t));
        p.answer(m, test::tools_page(definitions, R"(,"resultType":"complete","ttlMs":500,"cacheScope":"private")"));
        return true;
      }));
  CHECK(r.names() == std::vector<std::string>{"s__a"});
  int changes = 0;
  const auto subscription = r.supervisor->on_catalog_change([&](const feature_kind&) { ++changes; });
  tools->emplace_back("b");
  r.advance(600);
  CHECK(r.names().size() == 1);
  int settled = 0;
  r.supervisor->when_settled(milliseconds(1000), [&] { ++settled; });
  r.turn();
  CHECK(settled == 1);  // nobody waits for it
  CHECK(r.names() == std::vector<std::string>{"s__a", "s__b"});
  CHECK(changes == 1);
}
