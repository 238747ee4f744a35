// Rows about extensions of MCP and experimental capabilities: who hears of them, their methods, their types of results.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using way = bridge_step::way;

const std::string finder = R"({"extensions":{"com.example/find":{"v":1}}})";

void extensions(bridge& b) {
  b.record();
  auto& srv = b.add_server("srv");
  srv.capabilities += R"(,"extensions":{"io.modelcontextprotocol/ui":{},"com.example/own":{"n" : 1.0}})"
                      R"(,"experimental":{"x":{}})";
  auto& other = b.add_server("other");
  other.capabilities += R"(,"extensions":{"com.example/own":{"n":2},"com.example/more":{}},"experimental":{"y":{}})";
  b.start([](mcp::supervise::server_options& o) {
    for (const char* name : {"com.example/own", "com.example/more", "x"}) o.extensions.named[name] = {};
  });
  b.remark("An old server hears of what passes whatever the caller is, MCP Apps, and of what its entry names.");
  if (!b.era.new_server)
    CHECK(
        member_at(srv.got("initialize").at(0), {"params", "capabilities", "extensions"}) ==
        R"({"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"com.example/more":{},"com.example/own":{},"x":{}})");
  b.remark(
      "The caller hears of all that servers list and their entries name; the first server's settings count. Both have "
      "rules about their tools, so that nobody hears of y.");
  auto& c = b.add_caller("caller", "uid:1");
  c.capabilities = R"({"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]},"com.example/own":{}}})";
  c.open();
  b.pass();
  const auto opened = b.era.new_caller ? c.ask("server/discover") : std::string("1");
  b.pass();
  CHECK(member_at(c.answer(opened), {"result", "capabilities", "extensions"}) ==
        R"({"io.modelcontextprotocol/ui":{},"com.example/own":{"n" : 1.0},"com.example/more":{}})");
  CHECK(member_at(c.answer(opened), {"result", "capabilities", "experimental"}) == R"({"x":{}})");
  b.remark("A new server hears what its caller has declared, with each request.");
  c.call("echo");
  b.pass();
  CHECK(member_at(srv.got("tools/call").at(0), {"params", "_meta", able_key}) ==
        (b.era.new_server ? c.capabilities : ""));
  b.remark("No rule could hold for methods and notifications that the server's entry does not name: they go nowhere.");
  const auto before = c.received().size();
  const auto refused = c.ask("com.example/do");
  c.notify("notifications/com.example/done");
  srv.life().notify("notifications/com.example/own", R"({"a":1})");
  b.pass();
  CHECK(c.error_code(refused) == "-32601");
  CHECK(contains(c.answer(refused), "entry"));
  CHECK(c.received().size() == before + 1);
  for (const auto* s : {&srv, &other}) {
    CHECK(s->got("com.example/do").empty());
    CHECK(s->got("notifications/com.example/done").empty());
  }
}

/// A server whose entry names the methods find/* and notes of com.example/find.
scene find_scene(bridge& b, const std::string& capabilities) {
  const auto server = [](bridge_server& s) {
    s.capabilities += R"(,"extensions":{"com.example/find":{}})";
    s.add_tool("hold");
    s.first = [](server_life& l, const mcp::rpc::message& m) {
      if (m.method() == "find/wrong") return l.refuse(m.id, -32010, "no index", R"({"hint" : 1.50})"), true;
      if (m.method() == "find/slowly") return true;
      if (m.method() != "find/text") return false;
      const std::string token(find_member(find_member(m.params, "_meta"), "progressToken").text());
      l.notify("notifications/progress", R"({"progressToken":)" + token + R"(,"progress":1})");
      l.notify("notifications/find/hit", R"({"at":[1.0]})");
      l.answer(m.id, R"("hits":[1.50, 2],"z":null)");
      return true;
    };
  };
  return begin(b, {.server = server, .capabilities = capabilities, .options = [](mcp::supervise::server_options& o) {
                     o.extensions.named["com.example/find"] = {"find/*", "*/find/*", "tools/*"};
                   }});
}

void extension_methods(bridge& b) {
  const auto [_, srv, c] = find_scene(b, finder);
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  b.pass();
  if (!b.era.new_server)
    CHECK(member_at(srv.got("initialize").at(0), {"params", "capabilities", "experimental"}) ==
          R"({"com.example/find":{}})");
  b.remark("The method goes to the server, with the caller's params, and its result comes back as it is.");
  const auto id = c.ask("find/text", R"("query" : "a\u0062","deep":{"n":1.50})", R"("progressToken":"t","own":[1.0])");
  b.pass();
  const std::string asked = srv.got("find/text").at(0);
  CHECK(contains(asked, R"("query" : "a\u0062","deep":{"n":1.50})"));
  CHECK(contains(asked, R"("own":[1.0])"));
  CHECK(member_at(asked, {"params", "_meta", able_key}) == (b.era.new_server ? finder : ""));
  CHECK(contains(c.result(id), R"("hits":[1.50, 2],"z":null)"));
  CHECK(member_at(c.result(id), {"resultType"}) == (b.era.new_caller ? R"("complete")" : ""));
  REQUIRE(c.got("notifications/progress").size() == 1);
  CHECK(member_at(c.got("notifications/progress")[0], {"params", "progressToken"}) == R"("t")");
  REQUIRE(c.got("notifications/find/hit").size() == 1);
  CHECK(member_at(c.got("notifications/find/hit")[0], {"params"}) == R"({"at":[1.0]})");
  b.remark("Its errors pass as those of all methods.");
  const auto wrong = c.ask("find/wrong");
  b.pass();
  CHECK(c.error_code(wrong) == "-32010");
  CHECK(member_at(c.answer(wrong), {"error", "data"}) == R"({"hint" : 1.50})");
  b.remark("A caller that does not list the extension is told so, and hears of nothing.");
  const auto unlisted = second.ask("find/text");
  b.pass();
  CHECK(second.error_code(unlisted) == (b.era.new_caller ? "-32021" : "-32601"));
  CHECK(contains(second.answer(unlisted), "com.example/find"));
  b.remark("A pattern reaches none of MCP's own methods.");
  const auto own = c.ask("tools/other");
  b.pass();
  CHECK(c.error_code(own) == "-32601");
  b.remark("Cancelled, it is cancelled at the server; a notification of the caller goes there as well.");
  const auto held = c.ask("find/slowly");
  c.notify("notifications/find/more",
           b.era.new_caller ? R"({"_meta":{")" + std::string(able_key) + R"(":)" + finder + R"(},"n":1.0})"
                            : std::string(R"({"n":1.0})"));
  second.notify("notifications/find/more", R"({"n":2})");
  b.pass();
  c.cancel(held);
  b.pass();
  CHECK(srv.got("find/slowly").size() == 1);
  CHECK(srv.got("notifications/cancelled").size() == 1);
  REQUIRE(srv.got("notifications/find/more").size() == 1);
  CHECK(contains(srv.got("notifications/find/more")[0], R"("n":1.0)"));
  CHECK(b.rig.supervisor->open_calls() == 0);
  b.remark("Outside of calls an old caller hears of it; a new one has no stream that could carry it.");
  srv.life().notify("notifications/find/hit", R"({"at":2})");
  b.pass();
  CHECK(c.got("notifications/find/hit").size() == (b.era.new_caller ? 1 : 2));
  CHECK(second.got("notifications/find/hit").empty());
}

void extension_questions(bridge& b) {
  const auto [_, srv, c] = find_scene(b, finder);
  c.answerer = [](std::string_view method, const raw_json&) {
    return method == "find/which" ? std::string(R"({"one" : 1.0})") : std::string();
  };
  b.remark("An old server asks its caller by a method of the extension.");
  const auto held = c.call("hold");
  b.pass();
  std::string heard;
  const auto about = mcp::rpc::rpc_id::from(raw_json::own(member_at(srv.got("tools/call").at(0), {"id"})));
  srv.life().ask(*about, "find/which", R"({"of":[1.0]})",
                 [&](const mcp::rpc::message& m) { heard = m.result ? m.result.text() : m.error.text(); });
  b.pass(200);
  if (b.era.new_server) {  // it may send no requests
    CHECK(heard.empty());
    return;
  }
  CHECK(heard == R"({"one" : 1.0})");
  if (b.era.new_caller) return;
  REQUIRE(c.got("find/which").size() == 1);
  CHECK(member_at(c.got("find/which")[0], {"params", "of"}) == "[1.0]");
  CHECK(contains(c.got("find/which")[0], R"("mcpbx/server":"srv")"));
  b.remark("Methods of no extension are refused as before.");
  srv.life().ask(*about, "other/which", "{}", [&](const mcp::rpc::message& m) { heard = m.error.text(); });
  b.pass();
  CHECK(contains(heard, "-32601"));
  c.cancel(held);
}

void result_types(bridge& b) {
  const auto server = [](bridge_server& s) {
    s.capabilities += R"(,"extensions":{"com.example/find":{}})";
    s.add_tool("ticket");
    s.first = [](server_life& l, const mcp::rpc::message& m) {
      if (m.method() != "tools/call") return false;
      l.answer_raw(m.id, R"({"resultType":"com.example/ticket","ticket" : {"n":1.50}})");
      return true;
    };
  };
  const auto [_, srv, c] = begin(b, {.server = server, .capabilities = finder});
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  b.pass();
  b.remark("A result of a type that MCP does not have passes where both ends list an extension; others get an error.");
  const auto id = c.call("ticket"), refused = second.call("ticket");
  b.pass();
  const bool passes = b.era.new_caller && b.era.new_server;
  if (passes)
    CHECK(contains(c.result(id), R"("resultType":"com.example/ticket","ticket" : {"n":1.50})"));
  else
    CHECK_FALSE(c.error_code(id).empty());
  CHECK_FALSE(second.error_code(refused).empty());
}

}  // namespace

TEST_CASE("M4: extensions and experimental capabilities of all servers are told to callers") {
  play_row("extensions", "Extensions: those of all servers are told, and methods that no entry names go nowhere.",
           extensions);
}
TEST_CASE("M4: methods of an extension pass where the server's entry names them and both ends list it") {
  play_row("extension_methods", "Methods of extensions: named by the server's entry, listed by both ends.",
           extension_methods);
}
TEST_CASE("M4: an old server asks its caller by a method of an extension that both list") {
  play_row("extension_questions", "Questions of extensions: an old server's own requests.", extension_questions);
}
TEST_CASE("M4: a result of a type that an extension defines passes from a new server to a new caller") {
  play_row("result_types", "Types of results: those of extensions pass between new ends that both list one.",
           result_types);
}
TEST_CASE("M4: a method that the entries of two servers name goes to neither") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    for (const std::string name : {"one", "two"})
      b.add_server(name).capabilities += R"(,"experimental":{"com.example/find":{}})";
    b.start([](mcp::supervise::server_options& o) { o.extensions.named["com.example/find"] = {"find/*"}; });
    auto& c = b.add_caller("caller", "uid:1");
    c.capabilities = R"({"experimental":{"com.example/find":{}}})";
    c.open();
    b.pass();
    const auto id = c.ask("find/text");
    c.notify("notifications/find/x");
    b.pass();
    CHECK(c.error_code(id) == "-32600");
    CHECK(contains(c.answer(id), R"(\"one\" and \"two\")"));
    for (const auto& s : b.servers()) CHECK(s->got("find/text").empty());
    b.remove_server("two");
    b.pass();
    const auto again = c.ask("find/text");
    b.pass();
    CHECK(b.servers()[0]->got("find/text").size() == 1);
    CHECK_FALSE(c.answer(again).empty());
  }
}
TEST_CASE("G48: a request without an id, which would be a call that the audit does not have, goes to no server") {
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    const auto [_, srv, c] = find_scene(b, finder);
    const std::string params =
        e.new_caller ? R"({"_meta":{")" + std::string(able_key) + R"(":)" + finder + R"(}})" : std::string("{}");
    c.notify("find/text", params);
    c.notify("notifications/find/more", params);
    b.pass();
    CHECK(srv.got("find/text").empty());
    CHECK(srv.got("notifications/find/more").size() == 1);
  }
}
TEST_CASE("M4: a caller hears of an extension that the configuration names later") {
  for (const bool tools : {true, false}) {
    CAPTURE(tools);
    bridge b({false, false});
    auto& srv = b.add_server("srv");
    if (!tools)
      srv.capabilities = R"("experimental":{"com.example/find":{}})";
    else
      srv.capabilities += R"(,"experimental":{"com.example/find":{}})";
    b.start();
    auto& c = b.add_caller("caller", "uid:1");
    c.capabilities = finder;
    c.open();
    b.pass();
    b.change_server("srv", [](mcp::supervise::server_options& o) {
      o.extensions.named["com.example/find"] = {"notifications/find/*"};
    });
    b.pass(2'000);
    REQUIRE(srv.lives.size() == 2);
    srv.life().notify("notifications/find/hit");
    b.pass();
    CHECK(c.got("notifications/find/hit").size() == 1);
  }
}
TEST_CASE("M4: notifications of an extension stay with the caller whose process it is") {
  bridge b({false, false});
  auto& srv = b.add_server("srv");
  srv.capabilities += R"(,"extensions":{"com.example/find":{}})";
  b.start([](mcp::supervise::server_options& o) {
    o.extensions.named["com.example/find"] = {"find/*", "notifications/find/*"};
    o.sharing = mcp::supervise::server_sharing::per_caller;
  });
  for (const std::string name : {"first", "second"}) {
    auto& c = b.add_caller(name, "uid:1");
    c.capabilities = finder;
    c.open();
    b.pass();
    c.call("echo");
    b.pass();
  }
  REQUIRE(srv.lives.size() == 3);  // the first one keeps the lists
  CHECK(contains(srv.got("initialize").at(2), R"("experimental":{"com.example/find":{}})"));
  CHECK(contains(srv.got("initialize").at(2), R"("com.example/find":{}}},"clientInfo")"));
  srv.lives[1]->notify("notifications/find/hit", R"({"n":1})");
  b.pass();
  CHECK(b.callers()[0]->got("notifications/find/hit").size() == 1);
  CHECK(b.callers()[1]->got("notifications/find/hit").empty());
  b.callers()[1]->notify("notifications/find/more");
  b.pass();
  CHECK(srv.got("notifications/find/more").size() == 1);
}
TEST_CASE("M4: a program hears of an extension what concerns its own calls only") {
  bridge b({false, false});
  auto& srv = b.add_server("srv");
  srv.capabilities += R"(,"extensions":{"com.example/find":{}})";
  b.start([](mcp::supervise::server_options& o) { o.extensions.named["com.example/find"] = {"notifications/find/*"}; });
  for (const std::string name : {"person", "program"}) {
    auto& c = b.add_caller(name, name == "person" ? "uid:1" : "server:x");
    c.capabilities = finder;
    c.open();
  }
  b.pass();
  const auto heard = [&](std::size_t n) { return b.callers()[n]->got("notifications/find/hit").size(); };
  b.callers()[0]->call("echo");
  b.pass();
  srv.life().notify("notifications/find/hit");
  b.pass();
  CHECK(heard(0) == 1);
  CHECK(heard(1) == 0);
  b.callers()[1]->call("echo");
  b.pass();
  srv.life().notify("notifications/find/hit");
  b.pass();
  CHECK(heard(0) == 2);
  CHECK(heard(1) == 1);
}
