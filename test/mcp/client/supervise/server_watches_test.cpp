// Watches of resources and logs at a server over its lives, and changes that it tells.
#include "mcp/client/supervise/server_watches.hpp"

#include "test/mcp/client/supervisor_rig.hpp"
#include "test/support/contains.hpp"

#include <map>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::clients;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::supervise;
using namespace mcpbx::test;

namespace {

/// A legacy server with resources that may be subscribed to, and logs.
struct watched_rig : supervisor_rig {
  explicit watched_rig(std::string_view capabilities = R"({"tools":{},"resources":{"subscribe":true},"logging":{}})") {
    launcher.add("srv", legacy_script({"echo"}, [c = std::string(capabilities)](scripted_process& p, const message& m) {
                   if (m.method() == "initialize")
                     p.answer(m, R"({"protocolVersion":"2025-11-25","serverInfo":{},"capabilities":)" + c + "}");
                   else if (m.method() == "resources/subscribe" && contains(m.params.text(), "slow:"))
                     return true;
                   else if (m.method() == "resources/subscribe" && contains(m.params.text(), "no:"))
                     p.refuse(m, -32002, "none");
                   else if (m.method() == "resources/subscribe" || m.method() == "resources/unsubscribe" ||
                            m.method() == "logging/setLevel")
                     p.answer(m, "{}");
                   else if (m.method() == "resources/list")
                     p.answer(m, R"({"resources":[]})");
                   else if (m.method() == "resources/templates/list")
                     p.answer(m, R"({"resourceTemplates":[]})");
                   else
                     return m.method() == "tools/call";
                   return true;
                 }));
    start({server_named("srv")});
    c = owner("srv__echo");
  }
  std::shared_ptr<client> c;
  std::vector<std::string> told;

  watch resource(std::string_view uri) {
    return c->watch_resource(uri, [this](const raw_json& p) { told.emplace_back(member_text(p, "uri")); });
  }
  watch logs(std::string_view level) {
    return c->watch_logs(
        level, [this, l = std::string(level)](const raw_json& p) { told.push_back(l + ":" + member_text(p, "data")); });
  }
  void update(std::string_view uri) {
    launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" +
                        std::string(uri) + "\"}}");
    turn();
  }
  void log(std::string_view level, std::string_view text) {
    launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" +
                        std::string(level) + R"(","data":")" + std::string(text) + "\"}}");
    turn();
  }
  int count(std::string_view method) { return launcher.last().count(method); }
};

}  // namespace

TEST_CASE("a resource is subscribed to once for all who watch it, and until the last one leaves") {
  watched_rig r;
  auto a = r.resource("a:1"), b = r.resource("a:1"), other = r.resource("b:1");
  r.turn();
  CHECK(r.count("resources/subscribe") == 2);
  r.update("a:1");
  CHECK(r.told == std::vector<std::string>{"a:1", "a:1"});
  a.reset();
  r.turn();
  CHECK(r.count("resources/unsubscribe") == 0);
  b.reset();
  r.turn();
  CHECK(r.count("resources/unsubscribe") == 1);
  r.update("a:1");
  CHECK(r.told.size() == 2);
}

TEST_CASE("the answer of the server to a subscription reaches all who wait for it once") {
  watched_rig r;
  std::vector<std::string> answers;
  const auto ask = [&](const std::string& uri) {
    return r.c->watch_resource(
        uri, [](const raw_json&) {},
        [&answers, uri](const call_outcome& o) {
          answers.push_back(uri + (o.type == call_outcome::kind::result ? " yes" : " no"));
        });
  };
  std::vector<watch> held{ask("a:1"), ask("a:1"), ask("no:1"), ask("no:1")};
  CHECK(answers.empty());
  r.turn();
  CHECK(answers == std::vector<std::string>{"a:1 yes", "a:1 yes", "no:1 no", "no:1 no"});
  answers.clear();
  SUBCASE("one who comes later gets it at once") {
    held.push_back(ask("a:1"));
    held.push_back(ask("no:1"));
    CHECK(answers == std::vector<std::string>{"a:1 yes", "no:1 no"});
    CHECK(r.count("resources/subscribe") == 2);
  }
  SUBCASE("the server is asked again when nobody has waited in between") {
    held.clear();
    r.turn();
    CHECK(r.count("resources/unsubscribe") == 1);
    held.push_back(ask("no:1"));
    r.turn();
    CHECK(answers == std::vector<std::string>{"no:1 no"});
    CHECK(r.count("resources/subscribe") == 3);
  }
  SUBCASE("one who has left gets none") {
    ask("b:1").reset();
    r.turn();
    CHECK(answers.empty());
  }
  SUBCASE("a server that ends before it answers is asked again later") {
    held.push_back(ask("slow:1"));
    r.turn();
    CHECK(answers.empty());
    r.launcher.last().exit(1);
    r.advance(1'000);
    REQUIRE(r.launcher.count("srv") == 2);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0] == "slow:1 yes");
    CHECK(r.count("resources/subscribe") == 3);
  }
}

TEST_CASE("a task of a modern server is watched until the last one leaves") {
  supervisor_rig r;
  r.launcher.add("srv", modern_script());
  r.start({server_named("srv")});
  const auto c = r.owner("srv__echo");
  std::vector<std::string> told, answers;
  auto w = c->watch_task_of(
      nullptr, "T1", [&](const raw_json& p) { told.emplace_back(p.text()); },
      [&](const call_outcome& o) { answers.emplace_back(o.type == call_outcome::kind::result ? "yes" : "no"); });
  REQUIRE(w);
  r.turn();
  CHECK(contains(r.launcher.last().last("subscriptions/listen"), R"("taskIds":["T1"])"));
  CHECK(answers == std::vector<std::string>{"no"});  // the server leaves it out of its acknowledgement
  for (const char* id : {"T1", "T2", "T1/part"})
    r.launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":")" + std::string(id) +
                          R"("}})");
  r.turn();
  CHECK(told == std::vector<std::string>{R"({"taskId":"T1"})"});
  w.reset();
  r.turn();
  CHECK_FALSE(contains(r.launcher.last().last("subscriptions/listen"), "taskIds"));
}

TEST_CASE("a watch is at the server before the next call") {
  watched_rig r;
  const auto a = r.resource("a:1");
  supervisor_rig::outcome_box box;
  r.call(*r.c, box);
  r.turn();
  const auto& lines = r.launcher.last().received;
  REQUIRE(lines.size() >= 2);
  CHECK(contains(lines[lines.size() - 2], "resources/subscribe"));
  CHECK(contains(lines.back(), "tools/call"));
  r.c->cancel(1, "enough");
  r.turn();
}

TEST_CASE("G2: watches hold over a restart") {
  watched_rig r;
  const auto a = r.resource("a:1");
  const auto l = r.logs("error");
  r.turn();
  r.launcher.last().exit(1);
  r.advance(1'000);
  REQUIRE(r.launcher.count("srv") == 2);
  CHECK(r.count("resources/subscribe") == 1);
  CHECK(contains(r.launcher.last().last("logging/setLevel"), R"("level":"error")"));
  r.update("a:1");
  CHECK(r.told.size() == 1);
}

TEST_CASE("a server without subscriptions or logs cannot be watched") {
  watched_rig r(R"({"tools":{},"resources":{}})");
  CHECK(r.resource("a:1") == nullptr);
  CHECK(r.logs("info") == nullptr);
}

TEST_CASE("G10: a storm of updates is brought together for each resource, and the last one is not lost") {
  watched_rig r;
  const auto a = r.resource("a:1"), b = r.resource("b:1");
  r.turn();
  for (int i = 0; i < 1000; ++i) {
    r.launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1"}})");
  }
  r.update("b:1");
  CHECK(r.told == std::vector<std::string>{"a:1", "b:1"});
  r.advance(100);
  CHECK(r.told == std::vector<std::string>{"a:1", "b:1", "a:1"});
  r.advance(60'000);
  CHECK(r.told.size() == 3);
}

TEST_CASE("an update of a part reaches those who watch the whole") {
  watched_rig r;
  const auto folder = r.resource("file:///a");
  r.turn();
  r.update("file:///a/b");
  r.update("file:///ab");
  CHECK(r.told == std::vector<std::string>{"file:///a/b"});
  // Further parts within the pause become one update of the whole.
  r.update("file:///a/c");
  r.update("file:///a/d");
  r.advance(100);
  CHECK(r.told == std::vector<std::string>{"file:///a/b", "file:///a"});
}

TEST_CASE("a server is set to the lowest level that anybody wants, and each gets what it wants") {
  watched_rig r;
  const auto error = r.logs("error");
  auto info = r.logs("info");
  r.turn();
  CHECK(contains(r.launcher.last().last("logging/setLevel"), R"("level":"info")"));
  r.log("warning", "w");
  r.log("error", "e");
  r.log("debug", "d");
  r.log("loud", "unknown");
  CHECK(r.told == std::vector<std::string>{"info:w", "error:e", "info:e"});
  info.reset();
  r.turn();
  CHECK(contains(r.launcher.last().last("logging/setLevel"), R"("level":"error")"));
}

TEST_CASE("a log of a call goes to the call and to nobody else") {
  watched_rig r;
  const auto all = r.logs("debug");
  std::vector<std::string> own;
  server_call c;
  c.params = raw_json::literal(R"({"name":"echo"})");
  c.log = [&](const raw_json& p) { own.push_back(member_text(p, "data")); };
  r.c->call(std::move(c));
  r.turn();
  r.log("info", "x");
  CHECK(own == std::vector<std::string>{"x"});
  CHECK(r.told.empty());
}

TEST_CASE("G13: a log that may be about calls of several principals goes to no call and has no subject") {
  watched_rig r;
  std::vector<std::string> heard, own;
  const auto all = r.c->watch_logs("debug", [&](const raw_json&) { heard.push_back(r.c->log_subject()); });
  r.turn();
  r.log("info", "before any call");
  CHECK(heard == std::vector<std::string>{""});
  heard.clear();
  const auto call = [&](const std::string& principal, const void* asker, bool listens) {
    server_call c;
    c.params = raw_json::literal(R"({"name":"echo"})");
    c.principal = principal;
    c.asker = asker;
    if (listens)
      c.log = [&own, principal](const raw_json& p) { own.push_back(principal + ":" + member_text(p, "data")); };
    const auto t = r.c->call(std::move(c));
    r.turn();
    return t;
  };
  int mail = 0, me = 0;
  const auto of_person = call("uid:1000", &me, false);
  r.log("info", "a");
  CHECK(heard == std::vector<std::string>{"uid:1000"});
  const auto of_mail = call("server:mail", &mail, true);
  r.log("info", "b");
  CHECK(heard == std::vector<std::string>{"uid:1000", ""});
  // The server may go on with a call that has ended here.
  r.c->cancel(of_person, "enough");
  r.turn();
  r.log("info", "c");
  CHECK(heard == std::vector<std::string>{"uid:1000", "", ""});
  CHECK(own.empty());
  r.c->cancel(of_mail, "enough");
  r.turn();
  r.advance(61'000);
  const auto alone = call("server:mail", &mail, true);
  r.log("info", "d");
  CHECK(own == std::vector<std::string>{"server:mail:d"});
  CHECK(heard.size() == 3);
  r.c->cancel(alone, "enough");
  r.turn();
}

TEST_CASE("a watch may be dropped inside of its own update") {
  watched_rig r;
  watch a;
  int updates = 0;
  a = r.c->watch_resource("a:1", [&](const raw_json&) {
    ++updates;
    a.reset();
  });
  r.turn();
  r.update("a:1");
  r.advance(200);
  r.update("a:1");
  CHECK(updates == 1);
  CHECK(r.count("resources/unsubscribe") == 1);
}

TEST_CASE("a caller that leaves while it is told of one watch is told of none of its others") {
  watched_rig r;
  std::vector<watch> held;
  int told = 0;
  // As a caller whose outbox is full: all that it watches ends with it.
  const auto leave = [&](const raw_json&) {
    ++told;
    held.clear();
  };
  const auto watch_all = [&] {
    told = 0;
    for (const char* uri : {"a:1", "a:1/b", "a:1"}) held.push_back(r.c->watch_resource(uri, leave));
    for (int i = 0; i < 2; ++i) held.push_back(r.c->watch_logs("debug", leave));
    r.turn();
  };
  watch_all();
  r.update("a:1/b");
  CHECK(told == 1);
  watch_all();
  r.log("error", "x");
  CHECK(told == 1);
  // Updates that had to wait.
  const auto other = r.resource("a:2");
  r.turn();
  r.update("a:2");
  told = 0;
  for (int i = 0; i < 2; ++i) held.push_back(r.c->watch_resource("a:2", leave));
  r.update("a:2");
  CHECK(told == 0);
  r.advance(100);
  CHECK(told == 1);
}

TEST_CASE("G10: the number of watched resources of a server is bounded") {
  server_watches w;
  std::vector<server_watches::watcher_ptr> kept;
  for (std::size_t i = 0; i < server_watches::most_resources; ++i)
    kept.push_back(w.add_resource("a:" + std::to_string(i), {}, {}));
  CHECK(w.add_resource("one more", {}, {}) == nullptr);
  CHECK(w.add_resource("a:1", {}, {}) != nullptr);
  kept.pop_back();
  CHECK(w.add_resource("one more", {}, {}) != nullptr);
}

TEST_CASE("the bytes of a server's watched URIs and the number of its watches are bounded") {
  server_watches w;
  std::vector<server_watches::watcher_ptr> kept;
  const std::string tail(8000, 'u');
  const auto fit = static_cast<int>(server_watches::most_bytes / 8005);
  for (int i = 0; i < fit; ++i) kept.push_back(w.add_resource(std::to_string(10'000 + i) + tail, {}, {}));
  CHECK(kept.back() != nullptr);
  CHECK(w.add_resource("one more" + tail, {}, {}) == nullptr);
  CHECK(w.add_resource("10000" + tail, {}, {}) != nullptr);
  kept.pop_back();
  CHECK(w.add_resource("one more" + tail, {}, {}) != nullptr);
  kept.clear();
  for (std::size_t i = 0; i < server_watches::most_watches; ++i)
    kept.push_back(w.add_resource("a:" + std::to_string(i % 4000), {}, {}));
  CHECK(kept.back() != nullptr);
  CHECK(w.add_resource("a:1", {}, {}) == nullptr);
  kept.pop_back();
  CHECK(w.add_resource("a:1", {}, {}) != nullptr);
}

TEST_CASE("the server hears of the first watch of a resource and of the end of the last one only") {
  server_watches w;
  int ended = 0;
  const auto add = [&] { return w.add_resource("a:1", {}, [&] { ++ended; }); };
  auto first = add();
  CHECK(w.watched_once("a:1"));
  auto second = add();
  CHECK_FALSE(w.watched_once("a:1"));
  CHECK_FALSE(w.watched_once("a:2"));
  first.reset();
  CHECK(ended == 0);
  CHECK(w.resources().size() == 1);
  second.reset();
  CHECK(ended == 1);
  CHECK(w.resources().empty());
  first = add();
  CHECK(w.watched_once("a:1"));
}

TEST_CASE("updates of one part share one copy while they wait for all that watch above it") {
  server_watches w;
  const auto a = w.add_resource("x:/a", {}, {}), b = w.add_resource("x:/a/b", {}, {});
  const time_point now{};
  const auto update = raw_json::own(R"({"uri":"x:/a/b/c","more":1})");
  CHECK(w.updated(update, now).size() == 2);
  for (int i = 0; i < 3; ++i) CHECK(w.updated(update, now).empty());
  const auto late = w.due(now + server_watches::least_gap);
  REQUIRE(late.size() == 2);
  CHECK(late[0].params.text() == update.text());
  CHECK(late[0].params.text().data() == late[1].params.text().data());
  CHECK(late[0].params.text().data() != update.text().data());
}

TEST_CASE("the offers of a server are those that it declared last") {
  watched_rig r;
  CHECK(r.c->offers().known);
  CHECK(r.c->offers().subscribe);
  CHECK_FALSE(r.c->offers().prompts);
}

TEST_CASE("G10: many changes of a list keep no more than its items in memory") {
  supervisor_rig r;
  const auto change = std::make_shared<int>(-1);
  r.start("srv", legacy_script({}, [change](scripted_process& p, const message& m) {
            if (m.method() != "tools/list") return false;
            std::vector<std::string> tools;
            for (int i = 0; i < 200; ++i)
              tools.push_back(R"({"name":"t)" + std::to_string(i) + R"(","inputSchema":{},"description":")" +
                              (i == *change ? "changed" : "") + std::string(1000, 'x') + "\"}");
            p.answer(m, tools_page(tools));
            return true;
          }));
  // The blocks that the entries of the catalog keep alive.
  const auto kept = [&] {
    std::map<const char*, std::size_t> blocks;
    for (const auto& e : r.supervisor->snapshot()->entries())
      blocks[e->definition.owner().view().data()] = e->definition.owner().size();
    std::size_t bytes = 0;
    for (const auto& [at, size] : blocks) bytes += size;
    return bytes;
  };
  REQUIRE(r.names().size() == 200);
  const std::size_t at_first = kept();
  for (*change = 0; *change < 40; ++*change) {
    r.advance(20'000);
    r.launcher.last().say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    r.turn();
    CHECK(kept() < at_first + 100'000);
  }
}
