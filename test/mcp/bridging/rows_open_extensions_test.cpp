// Rows about extensions that no entry names, at servers about which there is no rule: their methods, and what closes
// them.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

const std::string lists_find = R"({"extensions":{"com.example/find":{"v":1}}})";

/// Lets a server's extensions pass that its entry does not name.
void open_all(mcp::supervise::server_options& o) {
  o.extensions.open = true;
}

void open_extensions(bridge& b) {
  const auto server = [](bridge_server& s) {
    s.capabilities += R"(,"extensions":{"com.example/find":{"v" : 1},"com.example/not":{}})";
    s.first = [](server_life& l, const mcp::rpc::message& m) {
      if (m.method() == "any/slowly") return true;
      if (m.method() != "any/thing") return false;
      l.notify("notifications/any/hit", R"({"at":[1.0]})");
      l.answer(m.id, R"("hits":[1.50, 2])");
      return true;
    };
  };
  const auto [_, srv, c] = begin(b, {.server = server, .capabilities = lists_find, .options = [](auto& o) {
                                       open_all(o);
                                       o.extensions.named["com.example/not"] = {};
                                     }});
  auto& second = b.add_caller("second", "uid:2");
  second.capabilities = R"({"extensions":{"com.example/not":{}}})";
  second.open();
  b.pass();
  const auto opened = b.era.new_caller ? second.ask("server/discover") : std::string("1");
  b.pass();
  b.remark("No rule is about the server's tools: callers hear of all that it lists, and any method of those passes.");
  CHECK(member_at(second.answer(opened), {"result", "capabilities", "extensions"}) ==
        R"({"com.example/find":{"v" : 1},"com.example/not":{}})");
  const auto id = c.ask("any/thing", R"("query" : "a\u0062")");
  b.pass();
  CHECK(contains(srv.got("any/thing").at(0), R"("query" : "a\u0062")"));
  CHECK(contains(c.result(id), R"("hits":[1.50, 2])"));
  REQUIRE(c.got("notifications/any/hit").size() == 1);
  b.remark("A caller that does not list it cannot use it, nor one that its entry names without methods.");
  const auto unlisted = second.ask("any/thing");
  second.notify("notifications/any/more", "{}");
  b.pass();
  CHECK(second.error_code(unlisted) == "-32601");
  CHECK(contains(second.answer(unlisted), "only if its caller lists the extension"));
  b.remark("Methods of MCP stay MCP's, and what is no notification needs an answer.");
  const auto own = c.ask("tools/other");
  c.notify("any/thing");
  b.pass();
  CHECK(c.error_code(own) == "-32601");
  b.remark("Cancelled, it is cancelled at the server; a notification of the caller goes there as well.");
  const auto held = c.ask("any/slowly");
  c.notify("notifications/any/more", b.era.new_caller
                                         ? R"({"_meta":{")" + std::string(able_key) + R"(":)" + lists_find + "}}"
                                         : std::string("{}"));
  b.pass();
  c.cancel(held);
  b.pass();
  CHECK(srv.got("any/slowly").size() == 1);
  CHECK(srv.got("notifications/cancelled").size() == 1);
  CHECK(srv.got("notifications/any/more").size() == 1);
  CHECK(srv.got("any/thing").size() == 1);
  CHECK(b.rig.supervisor->open_calls() == 0);
  b.remark("Outside of calls an old caller that lists it hears of it.");
  srv.life().notify("notifications/any/hit", R"({"at":2})");
  b.pass();
  CHECK(c.got("notifications/any/hit").size() == (b.era.new_caller ? 1 : 2));
  CHECK(second.got("notifications/any/hit").empty());
}

}  // namespace

TEST_CASE("M4: each extension works that callers are told of at a server without rules about its tools") {
  play_row("open_extensions",
           "Open extensions: methods pass at a server that no rule is about, if both ends list them.", open_extensions);
}
TEST_CASE("M4: an old server asks its caller by a method of an open extension that both list") {
  bridge b({false, false});
  const auto [_, srv, c] = begin(b, {.server =
                                         [](bridge_server& s) {
                                           s.capabilities += R"(,"extensions":{"com.example/find":{}})";
                                           s.add_tool("hold");
                                         },
                                     .capabilities = lists_find,
                                     .options = open_all});
  c.answerer = [](std::string_view, const raw_json&) { return std::string(R"({"one" : 1.0})"); };
  c.call("hold");
  b.pass();
  std::string heard;
  srv.life().ask(*mcp::rpc::rpc_id::from(raw_json::own(member_at(srv.got("tools/call").at(0), {"id"}))), "find/which",
                 "{}", [&](const mcp::rpc::message& m) { heard = m.result ? m.result.text() : m.error.text(); });
  b.pass();
  CHECK(heard == R"({"one" : 1.0})");
  CHECK(c.got("find/which").size() == 1);
}
TEST_CASE("M4: an entry that names an extension has its methods before every server that lists it as well") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    for (const std::string name : {"greedy", "named"})
      b.add_server(name).capabilities += R"(,"extensions":{"com.example/find":{},"com.example/also":{}})";
    b.start([](mcp::supervise::server_options& o) {
      if (o.name == "named") {
        o.extensions.named["com.example/find"] = {"find/*", "notifications/find/*"};
        o.extensions.named["com.example/gone"] = {"gone/*"};
      } else {
        o.extensions.open = true;
        o.extensions.elsewhere = {"com.example/find", "com.example/gone"};
      }
    });
    auto& c = b.add_caller("caller", "uid:1");
    c.capabilities = R"({"extensions":{"com.example/find":{},"com.example/also":{},"com.example/gone":{}}})";
    c.open();
    auto& only = b.add_caller("only", "uid:1");
    only.capabilities = lists_find;
    only.open();
    b.pass();
    auto &greedy = *b.servers()[0], &named = *b.servers()[1];
    c.ask("find/text");
    b.pass();
    CHECK(named.got("find/text").size() == 1);
    // The other extension is the greedy server's own.
    c.ask("also/do");
    const auto refused = only.ask("also/do");
    b.pass();
    CHECK(greedy.got("also/do").size() == 1);
    CHECK(only.error_code(refused) == "-32601");
    // It can tell callers nothing in the name of the extension that belongs to another one.
    greedy.life().notify("notifications/find/hit");
    b.pass();
    CHECK(only.got("notifications/find/hit").empty());
    // While no server lists it where its methods belong, they go nowhere.
    const auto nowhere = c.ask("gone/do");
    b.pass();
    CHECK(c.error_code(nowhere) == "-32601");
    CHECK(greedy.got("gone/do").empty());
  }
}
TEST_CASE("M4: a method that fits the open extensions of two servers goes to neither until an entry names it") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    for (const std::string name : {"one", "two"})
      b.add_server(name).capabilities += R"(,"experimental":{"com.example/)" + name + R"(":{}})";
    b.start(open_all);
    auto& c = b.add_caller("caller", "uid:1");
    c.capabilities = R"({"extensions":{"com.example/one":{},"com.example/two":{}}})";
    c.open();
    auto& only = b.add_caller("only", "uid:1");
    only.capabilities = R"({"extensions":{"com.example/two":{}}})";
    only.open();
    b.pass();
    const auto id = c.ask("find/text");
    c.notify("notifications/find/x");
    b.pass();
    CHECK(c.error_code(id) == "-32600");
    CHECK(contains(c.answer(id), R"(\"one\" and \"two\")"));
    for (const auto& s : b.servers()) CHECK(s->got("find/text").empty());
    only.ask("find/text");
    b.pass();
    CHECK(b.servers()[1]->got("find/text").size() == 1);
    b.change_server("one",
                    [](mcp::supervise::server_options& o) { o.extensions.named["com.example/one"] = {"find/*"}; });
    b.pass(2'000);
    c.ask("find/text");
    b.pass();
    CHECK(b.servers()[0]->got("find/text").size() == 1);
  }
}
TEST_CASE("M4: a rule about a server's tools closes its open extensions at once, and its process and calls go on") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    const auto server = [](bridge_server& s) {
      s.capabilities += R"(,"extensions":{"com.example/find":{}})";
      s.first = [](server_life&, const mcp::rpc::message& m) { return m.method() == "find/slowly"; };
    };
    const auto [_, srv, c] = begin(b, {.server = server, .capabilities = lists_find, .options = open_all});
    const auto held = c.ask("find/slowly");
    b.pass();
    REQUIRE(srv.got("find/slowly").size() == 1);
    b.change_server("srv", [](mcp::supervise::server_options& o) {
      o.extensions.open = false;
      o.tools.deny = {"x"};
    });
    const auto refused = c.ask("find/text");
    srv.life().notify("notifications/find/hit");
    b.pass();
    CHECK(srv.lives.size() == 1);
    CHECK(c.error_code(refused) == "-32601");
    CHECK(contains(c.answer(refused), "the entry of its tool server names it"));
    CHECK(srv.got("find/text").empty());
    CHECK(c.got("notifications/find/hit").empty());
    srv.life().answer(*mcp::rpc::rpc_id::from(raw_json::own(member_at(srv.got("find/slowly").at(0), {"id"}))),
                      R"("late":1)");
    b.pass();
    CHECK(contains(c.result(held), R"("late":1)"));
    // Without the rule they are open again, for the caller that is there as well.
    b.change_server("srv", open_all);
    b.pass();
    c.ask("find/text");
    b.pass();
    srv.life().notify("notifications/find/hit");
    b.pass();
    CHECK(srv.lives.size() == 1);
    CHECK(srv.got("find/text").size() == 1);
    CHECK(c.got("notifications/find/hit").size() == (e.new_caller ? 0 : 1));
  }
}
