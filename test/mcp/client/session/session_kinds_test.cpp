// A session that keeps further lists beside that of tools.
#include "test/mcp/client/session_rig.hpp"
#include "test/support/more_kinds.hpp"

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::test;
using mcpbx::test::session_rig;

namespace {

struct kinds_rig : session_rig {
  kinds_rig() : session_rig("auto", false, milliseconds(30'000), test::more_kinds()) {}
  void open(std::string_view capabilities, bool modern = false) {
    begin();
    if (modern) {
      answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":)" + std::string(capabilities) +
                                    R"(,"resultType":"complete"})");
    } else {
      refuse("server/discover", -32601);
      answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":)" + std::string(capabilities) + "}");
    }
  }
  void tell(std::string_view method) { say(R"({"jsonrpc":"2.0","method":")" + std::string(method) + "\"}"); }
  /// Returns the keys of the last list of this method, joined.
  std::string keys(std::string_view method) const {
    std::string out;
    for (const auto& [of, list] : lists_of_others) {
      if (of != method) continue;
      out.clear();
      for (const feature_item& item : *list) out += item.key;
    }
    return out;
  }
  std::size_t times(std::string_view method) const {
    return static_cast<std::size_t>(
        std::ranges::count(lists_of_others, method, [](const auto& told) { return told.first; }));
  }
};

constexpr std::string_view a_tool = R"({"tools":[{"name":"t","inputSchema":{}}]})";

}  // namespace

TEST_CASE("every kind that a server declares is listed, and it is ready once all first lists are in") {
  kinds_rig s;
  s.open(R"({"tools":{},"notes":{}})");
  CHECK(s.count("tools/list") == 1);
  CHECK(s.count("notes/list") == 1);
  CHECK(s.count("pages/list") == 0);
  s.answer("notes/list", R"({"notes":[{"name":"n"}],"nextCursor":"2"})");
  CHECK(s.core.waits_for() == "tools/list");
  s.answer("tools/list", a_tool);
  CHECK(s.ready == 0);
  CHECK(s.core.waits_for() == "notes/list");
  s.answer("notes/list", R"({"notes":[{"name":"m"},{"name":7},{"name":"n"}]})");
  CHECK(s.ready == 1);
  CHECK(s.lists.size() == 1);
  CHECK(s.keys("notes/list") == "nm");
  // A kind that the server does not have is known to be empty.
  CHECK(s.times("pages/list") == 1);
  CHECK(s.keys("pages/list").empty());
  REQUIRE(s.dropped_of_others.size() == 1);
  CHECK(s.dropped_of_others[0].second ==
        std::vector<std::string>{"a note definition is left out: name must be a string",
                                 "note \"n\" is listed twice; the first one counts"});
  CHECK(s.dropped == std::vector<std::vector<std::string>>{{}});
}

TEST_CASE("a server without tools is ready with the lists that it has") {
  kinds_rig s;
  s.open(R"({"pages":{}})");
  s.answer("pages/list", R"({"pages":[{"uri":"p:1"}]})");
  CHECK(s.ready == 0);
  s.refuse("pages/templates/list", -32603);
  CHECK(s.ready == 1);
  CHECK(s.count("tools/list") == 0);
  CHECK(s.keys("pages/list") == "p:1");
  CHECK(s.problem == "tool server \"srv\" answered pages/templates/list with error -32603: no");
}

TEST_CASE("a server that has no method for the further list of a capability has an empty one") {
  kinds_rig s;
  s.open(R"({"pages":{}})");
  s.refuse("pages/templates/list", -32601);
  s.answer("pages/list", R"({"pages":[{"uri":"p:1"}]})");
  CHECK(s.ready == 1);
  CHECK(s.times("pages/templates/list") == 1);
  CHECK(s.problem.empty());
  s.advance(milliseconds(600'000));
  CHECK(s.count("pages/templates/list") == 1);
}

TEST_CASE("G15: a first list of another kind than tools that never comes costs the server no tools") {
  kinds_rig s;
  s.open(R"({"tools":{},"notes":{}})");
  s.answer("tools/list", a_tool);
  s.advance(milliseconds(14'999));
  CHECK(s.ready == 0);
  s.advance(milliseconds(1));
  CHECK(s.ready == 1);
  CHECK(s.lists.back()->size() == 1);
  CHECK(s.keys("notes/list").empty());
  CHECK(s.problem.starts_with("tool server \"srv\" answered notes/list with nothing usable"));
  // The list is asked for again and again, and that is no reason to restart a server that lives.
  int answered = 0;
  const auto live_until_asked = [&](int times) {
    for (int i = 0; i < 1000 && s.count("notes/list") < times; ++i) {
      s.advance(milliseconds(1000));
      if (s.count("ping") == answered) continue;
      answered = s.count("ping");
      s.answer("ping", "{}");
    }
  };
  live_until_asked(6);
  CHECK(s.hangs.empty());
  CHECK(s.count("notes/list") == 6);
  s.answer("notes/list", R"({"notes":[{"name":"n"}]})");
  CHECK(s.keys("notes/list") == "n");
  CHECK(s.problem.empty());
}

TEST_CASE("the hints of a modern server are told with each list and those of a legacy one allow nothing") {
  kinds_rig s;
  SUBCASE("modern") {
    s.open(R"({"notes":{},"pages":{"listChanged":true}})", true);
    s.answer("notes/list", R"({"notes":[],"nextCursor":"2","ttlMs":5000,"cacheScope":"public"})");
    s.answer("notes/list", R"({"notes":[],"ttlMs":3000,"cacheScope":"private"})");
    s.answer("pages/list", R"({"pages":[],"ttlMs":7000,"cacheScope":"public"})");
    s.answer("pages/templates/list", R"({"pageTemplates":[],"ttlMs":-1})");
    const auto notes = s.hints.at(1), pages = s.hints.at(2), templates = s.hints.at(3);
    REQUIRE(notes);
    CHECK(notes->ttl == milliseconds(3000));
    CHECK(notes->is_private);
    CHECK(notes->fresh_until == s.now + milliseconds(3000));
    REQUIRE(pages);
    CHECK(pages->ttl == milliseconds(7000));
    CHECK_FALSE(pages->is_private);
    CHECK(pages->fresh_until == never);  // the server reports changes
    REQUIRE(templates);
    CHECK(templates->ttl == milliseconds(0));
    CHECK(templates->is_private);
    CHECK_FALSE(s.hints.at(0));
  }
  SUBCASE("legacy") {
    s.open(R"({"notes":{}})");
    s.answer("notes/list", R"({"notes":[],"ttlMs":5000,"cacheScope":"public"})");
    REQUIRE(s.hints.at(1));
    CHECK(s.hints.at(1)->ttl == milliseconds(0));
    CHECK(s.hints.at(1)->is_private);
    CHECK_FALSE(s.hints.at(2));
  }
}

TEST_CASE("a change of one kind makes that kind be listed again, and no other") {
  kinds_rig s;
  s.open(R"({"tools":{},"notes":{},"pages":{}})");
  s.answer("tools/list", a_tool);
  s.answer("notes/list", R"({"notes":[]})");
  s.answer("pages/list", R"({"pages":[]})");
  s.answer("pages/templates/list", R"({"pageTemplates":[]})");
  REQUIRE(s.ready == 1);
  s.advance(milliseconds(20'000));
  s.tell("notifications/notes/list_changed");
  CHECK(s.count("notes/list") == 2);
  s.answer("notes/list", R"({"notes":[{"name":"n"}]})");
  CHECK(s.keys("notes/list") == "n");
  CHECK(s.count("tools/list") == 1);
  CHECK(s.count("pages/list") == 1);
  SUBCASE("and kinds that share a notification are listed again together") {
    s.tell("notifications/pages/list_changed");
    CHECK(s.count("pages/list") == 2);
    CHECK(s.count("pages/templates/list") == 2);
    s.answer("pages/templates/list", R"({"pageTemplates":[{"uriTemplate":"p:{n}"}]})");
    s.answer("pages/list", R"({"pages":[]})");
    CHECK(s.keys("pages/templates/list") == "p:{n}");
    CHECK(s.times("pages/list") == 1);
  }
  SUBCASE("and a storm about one kind keeps no other waiting") {
    for (int i = 0; i < 100; ++i) s.tell("notifications/notes/list_changed");
    s.tell("notifications/tools/list_changed");
    CHECK(s.count("tools/list") == 2);
    CHECK(s.count("notes/list") == 2);
  }
}

TEST_CASE("one subscription is for all kinds whose changes a modern server tells") {
  kinds_rig s;
  s.open(R"({"tools":{"listChanged":true},"notes":{},"pages":{"listChanged":true}})", true);
  REQUIRE(s.count("subscriptions/listen") == 1);
  CHECK(find_member(find_member(raw_json::own(s.sent.at(1)), "params"), "notifications").text() ==
        R"({"toolsListChanged":true,"pagesListChanged":true})");
  s.answer("tools/list", a_tool);
  s.answer("notes/list", R"({"notes":[],"ttlMs":0})");
  s.answer("pages/list", R"({"pages":[],"ttlMs":0})");
  s.answer("pages/templates/list", R"({"pageTemplates":[],"ttlMs":0})");
  REQUIRE(s.ready == 1);
  SUBCASE("a list whose changes are not told is asked for again when it is wanted and stale") {
    s.advance(milliseconds(20'000));
    s.core.lists_wanted(s.now);
    CHECK(s.count("notes/list") == 2);
    CHECK(s.count("pages/list") == 1);
  }
  SUBCASE("when it ends, those lists that it was for are asked for again") {
    s.answer("subscriptions/listen", "{}");
    s.advance(milliseconds(20'000));
    CHECK(s.count("subscriptions/listen") == 2);
    CHECK(s.count("tools/list") == 2);
    CHECK(s.count("pages/templates/list") == 2);
    CHECK(s.count("notes/list") == 1);
  }
}
